//! Restores a text from the covering text and the stub that describes the changes.

use super::changes::Changes;
use super::lines::{NO_NEWLINE, split_lines, without_newline};
use super::spaces::SpaceChange;

/// An error for a stub that does not restore a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// The stub is malformed, or describes no changes.
    #[error("invalid stub at line {line}")]
    Malformed {
        /// The line of the stub, from 1.
        line: usize,
    },
    /// The hunks belong to another text.
    #[error("the diff does not apply: line {line} of the covering text differs")]
    OtherText {
        /// The line of the covering text, from 1; the text may have fewer lines.
        line: usize,
    },
}

/// Restores the text that a stub replaced, byte for byte (RFC 0006 §7).
///
/// `covering` is the content of the block that the stub names. `stub` is the text in place of the
/// covered block. Its first line describes a change of white space, and the hunks of a unified diff
/// without context lines follow, or there is only one of both. The first line may be left out if it
/// only introduces hunks.
///
/// The result is at most 64 times as long as `covering`, plus the length of `stub`.
///
/// # Errors
///
/// Returns a [`RestoreError`] if the hunks do not apply to `covering`, or if the stub describes no
/// changes, such as `[all of it stands in a.rs above]`.
///
/// # Examples
///
/// ```
/// let covering = b"fn main() {\n    one();\n}\n";
/// let hunks = b"@@ -2 +2,2 @@\n-    one();\n+    one(1);\n+    two();\n";
/// assert_eq!(
///     lcp_dedup::restore(covering, hunks)?,
///     b"fn main() {\n    one(1);\n    two();\n}\n",
/// );
/// let stub = b"[a.rs above, same except for indentation (tabs for 4 spaces)]";
/// assert_eq!(lcp_dedup::restore(covering, stub)?, b"fn main() {\n\tone();\n}\n");
/// # Ok::<(), lcp_dedup::RestoreError>(())
/// ```
pub fn restore(covering: &[u8], stub: &[u8]) -> Result<Vec<u8>, RestoreError> {
    let has_head = stub.starts_with(b"[");
    let parsed = if has_head { Changes::parse(stub) } else { Some((SpaceChange::default(), stub)) };
    let (spaces, hunks) = parsed.ok_or(RestoreError::Malformed { line: 1 })?;
    let hunks = Hunks { rest: hunks, line: usize::from(has_head) };
    if spaces.is_empty() { patch(covering, hunks) } else { patch(&spaces.apply(covering), hunks) }
}

/// Applies hunks to a text.
fn patch(covering: &[u8], mut hunks: Hunks<'_>) -> Result<Vec<u8>, RestoreError> {
    let mut text = Output { bytes: Vec::with_capacity(covering.len()), lines: 0 };
    let mut source = Source { lines: split_lines(covering), taken: 0 };
    while let Some(header) = hunks.header()? {
        let malformed = hunks.malformed();
        let copied = header.old.before.checked_sub(source.taken).ok_or(malformed)?;
        for _ in 0..copied {
            text.push(source.next()?).ok_or(malformed)?;
        }
        if header.new.before != text.lines {
            return Err(malformed);
        }
        for _ in 0..header.old.lines {
            if hunks.body(b'-')? != source.next()? {
                return Err(source.other_text());
            }
        }
        for _ in 0..header.new.lines {
            let line = hunks.body(b'+')?;
            text.push(line).ok_or(hunks.malformed())?;
        }
    }
    for line in source.lines {
        text.push(line).ok_or(hunks.malformed())?;
    }
    Ok(text.bytes)
}

/// The restored lines.
struct Output {
    bytes: Vec<u8>,
    lines: usize,
}

impl Output {
    /// Appends a line; returns `None` if the previous one has no newline.
    fn push(&mut self, line: &[u8]) -> Option<()> {
        if self.bytes.last().is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        self.bytes.extend_from_slice(line);
        self.lines += 1;
        Some(())
    }
}

/// The remaining lines of the covering text.
struct Source<I> {
    lines: I,
    taken: usize,
}

impl<'k, I: Iterator<Item = &'k [u8]>> Source<I> {
    fn next(&mut self) -> Result<&'k [u8], RestoreError> {
        self.taken += 1;
        self.lines.next().ok_or(self.other_text())
    }

    fn other_text(&self) -> RestoreError {
        RestoreError::OtherText { line: self.taken }
    }
}

/// One side of a hunk.
#[derive(Clone, Copy)]
struct Side {
    /// The number of lines of the text before the hunk.
    before: usize,
    lines: usize,
}

struct Header {
    old: Side,
    new: Side,
}

/// The remaining hunks.
struct Hunks<'h> {
    rest: &'h [u8],
    line: usize,
}

impl<'h> Hunks<'h> {
    fn malformed(&self) -> RestoreError {
        RestoreError::Malformed { line: self.line.max(1) }
    }

    fn next(&mut self) -> Option<&'h [u8]> {
        let line = split_lines(self.rest).next()?;
        self.rest = &self.rest[line.len()..];
        self.line += 1;
        Some(line)
    }

    fn header(&mut self) -> Result<Option<Header>, RestoreError> {
        let Some(line) = self.next() else { return Ok(None) };
        header(line).map(Some).ok_or(self.malformed())
    }

    /// Takes a line of the body of a hunk, without its sign.
    fn body(&mut self, sign: u8) -> Result<&'h [u8], RestoreError> {
        let line = self.next().and_then(|line| line.strip_prefix(&[sign]));
        let line = line.filter(|line| line.ends_with(b"\n")).ok_or(self.malformed())?;
        if !self.rest.starts_with(NO_NEWLINE) {
            return Ok(line);
        }
        self.next();
        // An empty line without a newline is not a line.
        Some(without_newline(line)).filter(|line| !line.is_empty()).ok_or(self.malformed())
    }
}

/// Parses `@@ -2,3 +2 @@`.
fn header(line: &[u8]) -> Option<Header> {
    let line = str::from_utf8(line).ok()?;
    let sides = line.strip_prefix("@@ -")?.strip_suffix(" @@\n")?;
    let (old, new) = sides.split_once(" +")?;
    Some(Header { old: side(old)?, new: side(new)? })
}

fn side(text: &str) -> Option<Side> {
    let number = |text: &str| -> Option<usize> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let (first, lines) = match text.split_once(',') {
        Some((first, lines)) => (number(first)?, number(lines)?),
        None => (number(text)?, 1),
    };
    // An empty range has the number of the line before.
    let before = if lines == 0 { first } else { first.checked_sub(1)? };
    Some(Side { before, lines })
}
