//! Bodies that are made, back into what they were made of: trees and hunks (RFC 0002
//! §6.3).
//!
//! What is read here need not be as a renderer writes it: who calls renders it again
//! and compares.

use lcp_types::limits::DEPTH_MAX;
use lcp_types::{DiffHunk, FileEntry, FileEntryKind, UnknownFields};

use super::TooLarge;
use crate::view::label::take_word;

/// What a level of a tree is indented by.
const INDENT: &str = "  ";

/// Why a body is none of its type.
pub(super) enum NotMade {
    /// A line is not as it must be.
    Line,
    /// An entry is on this level, which is too deep.
    Depth(u64),
}

impl NotMade {
    /// What is expected in its place, and the limit that it exceeds.
    pub(super) fn said(&self) -> (&'static str, Option<TooLarge>) {
        match *self {
            Self::Line => ("a block whose body is one of its type", None),
            Self::Depth(found) => {
                let limit = TooLarge { limit: "DEPTH_MAX", found, max: DEPTH_MAX.into() };
                ("a tree of so few levels", Some(limit))
            }
        }
    }
}

/// The entries of a tree.
pub(super) fn entries(text: &str) -> Result<Vec<FileEntry<'static>>, NotMade> {
    // The entries of each level that is open, a stack instead of recursion.
    let mut levels: Vec<Vec<FileEntry<'static>>> = vec![Vec::new()];
    // No entry is the empty line.
    for line in text.split('\n').filter(|_| !text.is_empty()) {
        let mut rest = line;
        let mut level = 0_usize;
        while let Some(behind) = rest.strip_prefix(INDENT) {
            (rest, level) = (behind, level + 1);
        }
        let entry = entry(rest).ok_or(NotMade::Line)?;
        while level + 1 < levels.len() {
            close(&mut levels);
        }
        if level == levels.len() {
            levels.push(Vec::new());
        }
        // Only what has an entry above it can stand deeper.
        let has_entry = |above: usize| levels.get(above).is_some_and(|level| !level.is_empty());
        if !level.checked_sub(1).is_none_or(has_entry) {
            return Err(NotMade::Line);
        }
        if level >= DEPTH_MAX as usize {
            return Err(NotMade::Depth(level as u64 + 1));
        }
        levels.get_mut(level).ok_or(NotMade::Line)?.push(entry);
    }
    while levels.len() > 1 {
        close(&mut levels);
    }
    Ok(levels.pop().unwrap_or_default())
}

/// Gives the entries of the deepest level to the entry that they stand below.
fn close(levels: &mut Vec<Vec<FileEntry<'static>>>) {
    let children = levels.pop().unwrap_or_default();
    if let Some(parent) = levels.last_mut().and_then(|level| level.last_mut()) {
        parent.children = children;
    }
}

/// `name/`, `name 12` or `name kind 7 12`.
fn entry(line: &str) -> Option<FileEntry<'static>> {
    let (name, rest) = if line.starts_with('"') {
        take_word(line)?
    } else {
        let end = line.find([' ', '/']).unwrap_or(line.len());
        (line[..end].to_owned(), &line[end..])
    };
    let (is_directory, rest) = match rest.strip_prefix('/') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (kind, size) = match rest.strip_prefix("kind ") {
        Some(rest) => {
            let (kind, size) = rest.split_once(' ')?;
            (FileEntryKind::from_code(kind.parse().ok()?), size)
        }
        None if is_directory => (FileEntryKind::Directory, rest),
        None => (FileEntryKind::File, rest),
    };
    let size = if size.is_empty() { 0 } else { size.parse().ok()? };
    Some(FileEntry {
        name: name.into(),
        kind,
        size,
        children: Vec::new(),
        unknown: UnknownFields::new(),
    })
}

/// The hunks of a diff; `None` if a line is of none.
pub(super) fn hunks(text: &str) -> Option<Vec<DiffHunk<'static>>> {
    let mut hunks = Vec::new();
    let mut rest = Some(text).filter(|text| !text.is_empty());
    while let Some(hunk) = rest {
        let (header, body) = hunk.split_at(hunk.find('\n').unwrap_or(hunk.len()));
        let (ranges, bytes) = header.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let (lines, behind) = match bytes.strip_prefix(' ') {
            Some(bytes) => {
                let bytes = bytes.strip_suffix(" bytes")?.parse().ok()?;
                let (lines, behind) = body.strip_prefix('\n')?.split_at_checked(bytes)?;
                (lines.to_owned(), behind)
            }
            None => unified(body),
        };
        hunks.push(DiffHunk::new(start(old)?, start(new)?, lines));
        rest = match behind {
            "" => None,
            behind => Some(behind.strip_prefix('\n')?),
        };
    }
    Some(hunks)
}

/// Takes the lines of a hunk, each behind a newline, up to the next header. The last
/// newline of the hunk is not in the text.
fn unified(body: &str) -> (String, &str) {
    let (lines, behind) = body.split_at(body.find("\n@").unwrap_or(body.len()));
    let lines = lines.strip_prefix('\n').map(|lines| format!("{lines}\n"));
    (lines.unwrap_or_default(), behind)
}

/// The first line of `7` or `7,3`.
fn start(range: &str) -> Option<u32> {
    range.split_once(',').map_or(range, |(start, _)| start).parse().ok()
}
