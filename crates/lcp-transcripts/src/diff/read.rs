//! Reading unified diffs.

use std::borrow::Cow;

use lcp_types::{CowBytes, Diff, DiffHunk, UnknownFields};

use super::names::{self, name};
use super::{DiffError, DiffErrorKind, Note, Patch};

/// Lines between those that name a file and its hunks that say what a block cannot hold.
#[rustfmt::skip]
const NOTED: [&str; 10] = [
    "old mode ", "new mode ", "new file mode ", "deleted file mode ", "rename from ", "rename to ",
    "copy from ", "copy to ", "GIT binary patch", "Only in ",
];

/// Lines that say nothing that is missing elsewhere.
const KNOWN: [&str; 5] =
    ["index ", "similarity index ", "dissimilarity index ", "diff ", "Index: "];

/// Reads the changes of a text, of one file or many.
///
/// A hunk has as many lines as its header says; a line that is empty there is an empty
/// line of context. Text around the changes is passed over and counted.
///
/// # Errors
///
/// [`DiffError`], with the line: a hunk that cannot be read, or that ends early.
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
    /// What the last line `diff --git` calls the file.
    git: Option<Cow<'a, str>>,
    /// Whether hunks belong to the last diff.
    is_open: bool,
    /// Within changes against several parents, which a block cannot hold.
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

    /// The file whose names stand in two lines, of which the first is read.
    fn file(&mut self, line: &'a str, old: &'a str, new: &'a str) {
        let (old, new) = (name(old), name(new));
        let path = names::path(&old, &new, self.git.as_deref());
        // Which file it was before, where git does not tell.
        if self.git.is_none() && !names::is_one(&old, &new) {
            self.patch.notes.push(Note { line: self.lines.number, path: path.clone(), text: line });
        }
        self.lines.next();
        self.patch.diffs.push(Diff { path, hunks: Vec::new(), unknown: UnknownFields::new() });
        self.is_open = true;
        self.git = None;
    }

    /// The hunk whose header was read.
    fn hunk(&mut self, header: &str) -> Result<(), DiffError> {
        let at = |kind, line| Err(DiffError { kind, line });
        let number = self.lines.number;
        let Some([old, new]) = ranges(header) else {
            return at(DiffErrorKind::HunkHeader, number);
        };
        let start = self.lines.at;
        // What lines become where they do not stand as a block wants them.
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

/// Where a hunk stands in one file.
struct Range {
    start: u32,
    lines: u32,
}

/// The two ranges of `@@ -1,2 +3,4 @@ anything`.
fn ranges(header: &str) -> Option<[Range; 2]> {
    let (ranges, _) = header.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    Some([range(old)?, range(new)?])
}

fn range(text: &str) -> Option<Range> {
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    // `parse` would take a sign.
    let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
    Some(Range { start: number(start)?, lines: number(lines)? })
}

/// A line without its end.
fn bare(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The lines of a text, each with its end.
struct Lines<'a> {
    text: &'a str,
    /// Bytes that were read.
    at: usize,
    /// Lines that were read.
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
