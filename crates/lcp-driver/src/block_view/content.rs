//! The content of a block as text, the same in every mode.
//!
//! File trees become lists, and hunks get headers. The text has no final newline; renderers add
//! exactly one, so that it can be parsed again.

use std::borrow::Cow;

use lcp_types::{BlockContent, CowBytes, Diff, DiffHunk, FileEntry, FileEntryKind, FileTree};

use super::label::{push_quoted, push_word};
use crate::fmt::write_to;

/// Returns the content as text, and whether it had bytes that are not UTF-8.
pub(crate) fn text<'b>(content: &'b BlockContent<'_>) -> Option<(Cow<'b, str>, bool)> {
    match content {
        BlockContent::Image(image) => Some((Cow::Borrowed(image.alt_text.as_ref()), false)),
        BlockContent::FileTree(tree) => Some((Cow::Owned(tree_text(tree)), false)),
        BlockContent::Diff(diff) => Some(diff_text(diff)),
        _ => content.text().map(lossy),
    }
}

/// Returns the content of a block as the text that renderers show: lists of files, hunks with
/// headers, the alternative text of an image. Bytes that are not UTF-8 become U+FFFD. `None` if
/// the block has no text content.
#[must_use]
pub fn content_text<'b>(content: &'b BlockContent<'_>) -> Option<Cow<'b, str>> {
    text(content).map(|(text, _)| text)
}

fn lossy<'b>(bytes: &'b CowBytes<'_>) -> (Cow<'b, str>, bool) {
    let text = bytes.to_str_lossy();
    let lost = matches!(text, Cow::Owned(_));
    (text, lost)
}

/// Lists one entry per line, indented by level: `name/` for a directory, `name size` for a file.
fn tree_text(tree: &FileTree<'_>) -> String {
    let mut text = String::new();
    // A stack of iterators replaces recursion, because untrusted trees can be deep.
    let mut levels = vec![tree.entries.iter()];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.next() else {
            levels.pop();
            continue;
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.extend(std::iter::repeat_n("  ", levels.len() - 1));
        push_entry(&mut text, entry);
        if !entry.children.is_empty() {
            levels.push(entry.children.iter());
        }
    }
    text
}

fn push_entry(text: &mut String, entry: &FileEntry<'_>) {
    // A name with a slash is quoted, so that `a/` is always a directory.
    if entry.name.contains('/') {
        push_quoted(text, &entry.name);
    } else {
        push_word(text, &entry.name);
    }
    if entry.kind == FileEntryKind::Directory {
        text.push('/');
    }
    match (entry.kind, entry.size) {
        (FileEntryKind::Directory | FileEntryKind::File, 0) => {}
        (FileEntryKind::Directory | FileEntryKind::File, size) => {
            write_to(text, format_args!(" {size}"));
        }
        (FileEntryKind::Other(kind), size) => write_to(text, format_args!(" kind {kind} {size}")),
    }
}

/// Formats the hunks as in a unified diff; also returns whether they had bytes that are not UTF-8.
fn diff_text<'b>(diff: &'b Diff<'_>) -> (Cow<'b, str>, bool) {
    let mut text = String::new();
    let mut any_lost = false;
    for hunk in &diff.hunks {
        let (lines, lost) = lossy(&hunk.lines);
        any_lost |= lost;
        if !text.is_empty() {
            text.push('\n');
        }
        push_hunk(&mut text, hunk, &lines);
    }
    (Cow::Owned(text), any_lost)
}

/// Appends a header and the lines, without the last newline.
///
/// If a line is not valid in a unified diff, the end of the hunk is ambiguous. The header then has
/// the length of the hunk in bytes.
fn push_hunk(text: &mut String, hunk: &DiffHunk<'_>, lines: &str) {
    let (mut old, mut new, mut odd) = (0, 0, !lines.is_empty() && !lines.ends_with('\n'));
    for line in lines.split_terminator('\n') {
        match line.as_bytes().first() {
            Some(b'+') => new += 1,
            Some(b'-') => old += 1,
            Some(b' ') => (old, new) = (old + 1, new + 1),
            Some(b'\\') => {}
            _ => odd = true,
        }
    }
    text.push_str(&hunk.header(old, new));
    if odd {
        write_to(text, format_args!(" {} bytes", lines.len()));
        text.push('\n');
        text.push_str(lines);
    } else if let Some(lines) = lines.strip_suffix('\n') {
        text.push('\n');
        text.push_str(lines);
    }
}
