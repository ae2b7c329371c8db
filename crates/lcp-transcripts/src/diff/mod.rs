//! Unified diffs to DIFF blocks, and back.
//!
//! Read is what git, `diff -u` and their like print: several files, text around them,
//! names in quotes, `/dev/null`, lines that end with CRLF. What a DIFF block has no
//! field for (renames, modes, binary files) comes back as a [`Note`].

mod names;
mod read;
mod write;

use std::borrow::Cow;

use lcp_types::Diff;

pub use read::parse;
pub use write::write;

/// What a text holds of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch<'a> {
    /// The changes of each file that has a `---` and a `+++` line, in order.
    pub diffs: Vec<Diff<'a>>,
    /// What they cannot hold, in order.
    pub notes: Vec<Note<'a>>,
    /// Lines that belong to no change: a commit's message, a binary patch.
    pub other_lines: usize,
}

/// A line that says what a DIFF block cannot hold: a rename, a mode, a binary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The line's number, from 1.
    pub line: usize,
    /// The file that it speaks of; empty where nothing names it.
    pub path: Cow<'a, str>,
    /// The line, without its end.
    pub text: &'a str,
}

/// Why a text is no unified diff, and in which line, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
#[non_exhaustive]
pub struct DiffError {
    /// What is wrong.
    pub kind: DiffErrorKind,
    /// The line, from 1.
    pub line: usize,
}

/// What can be wrong with a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DiffErrorKind {
    /// `@@ -1,2 +3,4 @@` was begun, and is not that.
    #[error("the header of a hunk cannot be read")]
    HunkHeader,
    /// A hunk stands before any `---` and `+++`.
    #[error("a hunk belongs to no file")]
    NoFile,
    /// A line within a hunk begins with none of `+`, `-`, space and backslash, or the
    /// sides end unevenly.
    #[error("this is no line of the hunk, which has fewer lines than its header says")]
    HunkLine,
    /// The text ends within a hunk.
    #[error("the text ends within a hunk")]
    UnexpectedEnd,
}

/// The one diff that a text is, if [`write()`] gives exactly this text for it.
///
/// ```
/// use lcp_transcripts::diff;
///
/// let text = "--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n";
/// assert_eq!(diff::write(&diff::parse_exact(text).unwrap()), text);
/// assert!(diff::parse_exact("--- a heading\n").is_none());
/// ```
#[must_use]
pub fn parse_exact(text: &str) -> Option<Diff<'_>> {
    if !text.starts_with("--- ") {
        return None;
    }
    let mut patch = parse(text).ok()?;
    let diff = patch.diffs.pop().filter(|diff| !diff.hunks.is_empty())?;
    (patch.diffs.is_empty() && write(&diff) == text).then_some(diff)
}
