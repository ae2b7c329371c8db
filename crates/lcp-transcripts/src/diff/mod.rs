//! Reads unified diffs as DIFF blocks, and writes them.
//!
//! The reader accepts the output of git, `diff -u` and similar programs: several files, text around
//! them, quoted names, `/dev/null` and CRLF line ends. Information that a DIFF block cannot hold
//! (renames, modes, binary files) is returned as a [`Note`].

mod names;
mod read;
mod write;

use std::borrow::Cow;

use lcp_types::Diff;

pub use read::parse;
pub use write::write;

/// The changes in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch<'a> {
    /// The changes of each file that has a `---` and a `+++` line, in order.
    pub diffs: Vec<Diff<'a>>,
    /// The lines that DIFF blocks cannot hold, in order.
    pub notes: Vec<Note<'a>>,
    /// The number of lines outside of changes, such as a commit message or a binary patch.
    pub other_lines: usize,
}

/// A line that a DIFF block cannot hold, such as a rename, a mode or a binary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note<'a> {
    /// The line number, counted from 1.
    pub line: usize,
    /// The path of the file; empty if no line names it.
    pub path: Cow<'a, str>,
    /// The line, without its line end.
    pub text: &'a str,
}

/// The reason why a text is not a unified diff, and the line, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
#[non_exhaustive]
pub struct DiffError {
    /// The kind of error.
    pub kind: DiffErrorKind,
    /// The line, counted from 1.
    pub line: usize,
}

/// The kinds of errors in a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DiffErrorKind {
    /// A line begins like a hunk header (`@@ -1,2 +3,4 @@`) but is not valid.
    #[error("invalid hunk header")]
    HunkHeader,
    /// A hunk comes before the first `---` and `+++` lines.
    #[error("hunk without a file header (`---` and `+++`)")]
    NoFile,
    /// A line within a hunk does not begin with `+`, `-`, a space or a backslash, or the hunk has
    /// more lines of one side than its header says.
    #[error(
        "unexpected line in a hunk: invalid first character, or more lines than the header states"
    )]
    HunkLine,
    /// The text ends within a hunk.
    #[error("unexpected end of the text in a hunk")]
    UnexpectedEnd,
}

/// Parses a text that is exactly one diff. Returns `None` if [`write()`] would not restore this
/// text.
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
