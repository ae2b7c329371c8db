//! Parsers of the bodies that renderers generate: file trees and diff hunks (RFC 0002 §6.3).
//!
//! They accept more than a renderer writes: the caller renders the result again and compares.

use lcp_types::limits::DEPTH_MAX;
use lcp_types::{DiffHunk, FileEntry, FileEntryKind, UnknownFields};

use super::LimitExceeded;
use crate::block_view::label::take_word;

/// The indentation of one level of a tree.
const INDENT: &str = "  ";

/// The error of a body that does not fit its block type.
pub(super) enum BodyError {
    Line,
    /// An entry is on this level, which exceeds the maximum depth.
    Depth(u64),
}

impl BodyError {
    /// Returns the expected input and the exceeded limit.
    pub(super) fn describe(&self) -> (&'static str, Option<LimitExceeded>) {
        match *self {
            Self::Line => ("a valid body for the block type", None),
            Self::Depth(found) => {
                let limit = LimitExceeded { limit: "DEPTH_MAX", found, max: DEPTH_MAX.into() };
                ("a tree with fewer levels", Some(limit))
            }
        }
    }
}

pub(super) fn parse_tree(text: &str) -> Result<Vec<FileEntry<'static>>, BodyError> {
    // The entries of each level that is open, a stack instead of recursion.
    let mut levels: Vec<Vec<FileEntry<'static>>> = vec![Vec::new()];
    // An empty text has no entries; without this filter it would have one empty line.
    for line in text.split('\n').filter(|_| !text.is_empty()) {
        let mut rest = line;
        let mut level = 0_usize;
        while let Some(behind) = rest.strip_prefix(INDENT) {
            (rest, level) = (behind, level + 1);
        }
        let entry = entry(rest).ok_or(BodyError::Line)?;
        while level + 1 < levels.len() {
            close(&mut levels);
        }
        if level == levels.len() {
            levels.push(Vec::new());
        }
        // An entry can be on a deeper level only if the level above has an entry.
        let has_entry = |above: usize| levels.get(above).is_some_and(|level| !level.is_empty());
        if !level.checked_sub(1).is_none_or(has_entry) {
            return Err(BodyError::Line);
        }
        if level >= DEPTH_MAX as usize {
            return Err(BodyError::Depth(level as u64 + 1));
        }
        levels.get_mut(level).ok_or(BodyError::Line)?.push(entry);
    }
    while levels.len() > 1 {
        close(&mut levels);
    }
    Ok(levels.pop().unwrap_or_default())
}

/// Moves the entries of the deepest level into their parent entry.
fn close(levels: &mut Vec<Vec<FileEntry<'static>>>) {
    let children = levels.pop().unwrap_or_default();
    if let Some(parent) = levels.last_mut().and_then(|level| level.last_mut()) {
        parent.children = children;
    }
}

/// Parses `name/`, `name 12` or `name kind 7 12`.
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

/// Parses the hunks of a diff; returns `None` if a line belongs to no hunk.
pub(super) fn parse_hunks(text: &str) -> Option<Vec<DiffHunk<'static>>> {
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

/// Takes the lines of a hunk, each after a newline, up to the next header.
fn unified(body: &str) -> (String, &str) {
    let (lines, behind) = body.split_at(body.find("\n@").unwrap_or(body.len()));
    let lines = lines.strip_prefix('\n').map(|lines| format!("{lines}\n"));
    (lines.unwrap_or_default(), behind)
}

/// Parses the first line of the range `7` or `7,3`.
fn start(range: &str) -> Option<u32> {
    range.split_once(',').map_or(range, |(start, _)| start).parse().ok()
}
