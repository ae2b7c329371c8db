//! The reader of unified diffs.

use std::borrow::Cow;

use lcp_types::{CowBytes, Diff, DiffHunk, UnknownFields};

use super::names::{self, name};
use super::{DiffError, DiffErrorKind, Note, Patch};

/// The beginnings of lines with information that a DIFF block cannot hold.
#[rustfmt::skip]
const NOTED: [&str; 10] = [
    "old mode ", "new mode ", "new file mode ", "deleted file mode ", "rename from ", "rename to ",
    "copy from ", "copy to ", "GIT binary patch", "Only in ",
];

/// The beginnings of lines without information of their own.
const KNOWN: [&str; 5] =
    ["index ", "similarity index ", "dissimilarity index ", "diff ", "Index: "];

/// Parses the changes in a text, of one file or several.
///
/// The header of a hunk gives its number of lines. An empty line within a hunk is an empty context
/// line. Lines around the changes are skipped and counted.
///
/// # Errors
///
/// Returns a [`DiffError`] with the line if a hunk is malformed, ends early or belongs to no file.
///
/// ```
/// let patch = lcp_transcripts::diff::parse("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n")?;
/// assert_eq!(patch.diffs[0].path, "x");
/// assert_eq!(patch.diffs[0].hunks[0].lines.as_str(), Some("-old\n+new\n"));
/// # Ok::<(), lcp_transcripts::diff::DiffError>(())
/// ```
pub fn parse(text: &str) -> Result<Patch<'_>, DiffError> {
    let mut reader = Reader {
        lines: Lines { text, at: 0, number: 0 },
        patch: Patch::default(),
        git: None,
        is_open: false,
        is_combined: false,
    };
    while let Some(line) = reader.lines.next() {
        reader.line(bare(line))?;
    }
    Ok(reader.patch)
}

struct Reader<'a> {
    lines: Lines<'a>,
    patch: Patch<'a>,
    /// The path in the last `diff --git` line.
    git: Option<Cow<'a, str>>,
    /// `true` if further hunks belong to the last diff.
    is_open: bool,
    /// `true` within a combined diff (of a merge), which a DIFF block cannot hold.
    is_combined: bool,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), DiffError> {
        let combined =
            || line.strip_prefix("diff --cc ").or_else(|| line.strip_prefix("diff --combined "));
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.begin(names::of_git(names), false);
        } else if let Some(path) = combined() {
            self.begin(name(path), true);
            self.note(line);
        } else if self.is_combined {
            self.patch.other_lines += 1;
        } else if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = self.lines.peek().and_then(|line| bare(line).strip_prefix("+++ "))
        {
            self.file(line, old, new);
        } else if line.starts_with("@@ -") {
            self.hunk(line)?;
        } else if is_noted(line) {
            self.note(line);
        } else if !line.is_empty() && !KNOWN.iter().any(|known| line.starts_with(known)) {
            self.patch.other_lines += 1;
        }
        Ok(())
    }

    fn begin(&mut self, path: Cow<'a, str>, is_combined: bool) {
        (self.git, self.is_open, self.is_combined) = (Some(path), false, is_combined);
    }

    fn note(&mut self, text: &'a str) {
        let path = self.git.clone().unwrap_or_default();
        self.patch.notes.push(Note { line: self.lines.number, path, text });
    }

    /// Begins the diff of a file with these two names. The `---` line has been read.
    fn file(&mut self, line: &'a str, old: &'a str, new: &'a str) {
        let (old, new) = (name(old), name(new));
        let path = names::path(&old, &new, self.git.as_deref());
        // A note keeps the old name, if no git header precedes the file.
        if self.git.is_none() && !names::is_one(&old, &new) {
            self.patch.notes.push(Note { line: self.lines.number, path: path.clone(), text: line });
        }
        self.lines.next();
        self.patch.diffs.push(Diff { path, hunks: Vec::new(), unknown: UnknownFields::new() });
        self.is_open = true;
        self.git = None;
    }

    /// Reads the lines of a hunk whose header has been read.
    fn hunk(&mut self, header: &str) -> Result<(), DiffError> {
        let at = |kind, line| Err(DiffError { kind, line });
        let number = self.lines.number;
        let Some([old, new]) = ranges(header) else {
            return at(DiffErrorKind::HunkHeader, number);
        };
        let start = self.lines.at;
        // The lines in the form that a block requires, if it differs from the input.
        let mut changed: Option<String> = None;
        let (mut left_old, mut left_new) = (old.lines, new.lines);
        loop {
            let is_done = left_old == 0 && left_new == 0;
            let before = self.lines.at;
            let Some(line) = self.lines.peek() else {
                if is_done {
                    break;
                }
                return at(DiffErrorKind::UnexpectedEnd, self.lines.number);
            };
            let of_line = match line.as_bytes().first() {
                Some(b'\\') => (0, 0),
                _ if is_done => break,
                Some(b'+') => (0, 1),
                Some(b'-') => (1, 0),
                Some(b' ' | b'\n' | b'\r') => (1, 1),
                _ => return at(DiffErrorKind::HunkLine, self.lines.number + 1),
            };
            self.lines.next();
            let left = (left_old.checked_sub(of_line.0), left_new.checked_sub(of_line.1));
            let (Some(old), Some(new)) = left else {
                return at(DiffErrorKind::HunkLine, self.lines.number);
            };
            (left_old, left_new) = (old, new);
            let is_bare = line.starts_with(['\n', '\r']);
            if is_bare || !line.ends_with('\n') {
                changed.get_or_insert_with(|| self.lines.text[start..before].to_owned());
            }
            if let Some(changed) = &mut changed {
                changed.push_str(if is_bare { " " } else { "" });
                changed.push_str(line.strip_suffix('\n').unwrap_or(line));
                changed.push('\n');
            }
        }
        let lines = match changed {
            Some(changed) => CowBytes::from(changed),
            None => CowBytes::from(&self.lines.text[start..self.lines.at]),
        };
        match self.patch.diffs.last_mut().filter(|_| self.is_open) {
            Some(diff) => diff.hunks.push(DiffHunk::new(old.start, new.start, lines)),
            None => return at(DiffErrorKind::NoFile, number),
        }
        Ok(())
    }
}

fn is_noted(line: &str) -> bool {
    let differ = |start: &str| line.starts_with(start) && line.ends_with(" differ");
    NOTED.iter().any(|noted| line.starts_with(noted)) || differ("Files ") || differ("Binary files ")
}

/// The position of a hunk in one file.
struct Range {
    start: u32,
    lines: u32,
}

/// Parses the two ranges of a header `@@ -1,2 +3,4 @@ anything`.
fn ranges(header: &str) -> Option<[Range; 2]> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some([range(old)?, range(new)?])
}

fn range(text: &str) -> Option<Range> {
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    // `parse` would accept a plus sign.
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
    Some(Range { start: number(start)?, lines: number(lines)? })
}

/// Returns a line without its line end.
fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The lines of a text, each with its line end.
struct Lines<'a> {
    text: &'a str,
    /// The number of bytes that have been read.
    at: usize,
    /// The number of lines that have been read.
    number: usize,
}

impl<'a> Lines<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.text[self.at..].split_inclusive('\n').next()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += line.len();
        self.number += 1;
        Some(line)
    }
}
