//! The writer of unified diffs.

use lcp_types::{Diff, DiffHunk};

use super::names::{self, NULL};

/// Writes a diff as text for `patch`, `git apply` and [`parse`](super::parse). Invalid UTF-8
/// becomes U+FFFD.
///
/// ```
/// use lcp_transcripts::diff;
/// use lcp_types::{Diff, DiffHunk, UnknownFields};
///
/// let hunks = vec![DiffHunk::new(0, 1, "+one\n")];
/// let diff = Diff { path: "new.txt".into(), hunks, unknown: UnknownFields::new() };
/// assert_eq!(diff::write(&diff), "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+one\n");
/// ```
#[must_use]
pub fn write(diff: &Diff<'_>) -> String {
    let hunks: Vec<_> = diff.hunks.iter().map(|hunk| (hunk, hunk.lines.to_str_lossy())).collect();
    let only = match hunks.as_slice() {
        [(hunk, lines)] => Some((hunk, LineCounts::count(lines))),
        _ => None,
    };
    let is_new =
        only.as_ref().is_some_and(|(hunk, sides)| hunk.old_start == 0 && sides.has_only(0, 1));
    let is_gone = only.is_some_and(|(hunk, sides)| hunk.new_start == 0 && sides.has_only(1, 0));
    let mut text = String::new();
    for (mark, side, is_null) in [("--- ", "a/", is_new), ("+++ ", "b/", is_gone)] {
        text.push_str(mark);
        if is_null {
            text.push_str(NULL);
        } else {
            names::push(&mut text, side, &diff.path);
        }
        text.push('\n');
    }
    for (hunk, lines) in hunks {
        push(&mut text, hunk, &lines);
    }
    text
}

fn push(text: &mut String, hunk: &DiffHunk<'_>, lines: &str) {
    let sides = LineCounts::count(lines);
    text.push_str(&hunk.header(sides.old, sides.new));
    text.push('\n');
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}

/// The number of lines of a hunk on each side.
struct LineCounts {
    old: usize,
    new: usize,
}

impl LineCounts {
    fn count(lines: &str) -> Self {
        let mut sides = Self { old: 0, new: 0 };
        for line in lines.split_terminator('\n') {
            match line.as_bytes().first() {
                Some(b'+') => sides.new += 1,
                Some(b'-') => sides.old += 1,
                Some(b'\\') => {}
                _ => (sides.old, sides.new) = (sides.old + 1, sides.new + 1),
            }
        }
        sides
    }

    /// Returns whether exactly the sides that are 1 have lines.
    fn has_only(&self, old: usize, new: usize) -> bool {
        (self.old.min(1), self.new.min(1)) == (old, new)
    }
}
