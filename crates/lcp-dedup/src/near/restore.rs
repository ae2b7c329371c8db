//! The text again, of the kept one and the hunks.

use super::lines::whole;
use crate::lines::without_end;

/// What stands below a line that has no newline.
pub(super) const NO_NEWLINE: &[u8] = b"\\ No newline at end of file\n";

/// Why hunks do not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Something else than hunks, or hunks that contradict each other.
    #[error("line {line} of the diff is not what stands in one there")]
    Malformed {
        /// Line of the hunks, from 1 on.
        line: usize,
    },
    /// The hunks are of another text than the one that was given.
    #[error("line {line} of the kept text is not the one that the diff was made of")]
    OtherText {
        /// Line of the kept text, from 1 on. It may have fewer.
        line: usize,
    },
}

/// Makes the text that `hunks` was put in the place of, byte for byte (RFC 0006 §7).
/// `kept` is the content of the block that the diff names, `hunks` the diff without
/// the line that names it: hunks of a unified diff, without lines of context.
///
/// The result is never longer than both together.
///
/// # Errors
///
/// [`RestoreError`] if the hunks do not apply to `kept`.
///
/// # Examples
///
/// ```
/// let kept = b"fn main() {\n    one();\n}\n";
/// let hunks = b"@@ -2 +2,2 @@\n-    one();\n+    one(1);\n+    two();\n";
/// assert_eq!(
///     lcp_dedup::restore(kept, hunks)?,
///     b"fn main() {\n    one(1);\n    two();\n}\n",
/// );
/// # Ok::<(), lcp_dedup::RestoreError>(())
/// ```
pub fn restore(kept: &[u8], hunks: &[u8]) -> Result<Vec<u8>, RestoreError> {
    let mut text = Output { bytes: Vec::with_capacity(kept.len()), lines: 0 };
    let mut kept = Kept { lines: whole(kept), taken: 0 };
    let mut hunks = Hunks { rest: hunks, line: 0 };
    while let Some(header) = hunks.header()? {
        let malformed = hunks.malformed();
        let copied = header.old.before.checked_sub(kept.taken).ok_or(malformed)?;
        for _ in 0..copied {
            text.push(kept.next()?).ok_or(malformed)?;
        }
        if header.new.before != text.lines {
            return Err(malformed);
        }
        for _ in 0..header.old.lines {
            if hunks.body(b'-')? != kept.next()? {
                return Err(kept.other_text());
            }
        }
        for _ in 0..header.new.lines {
            let line = hunks.body(b'+')?;
            text.push(line).ok_or(hunks.malformed())?;
        }
    }
    for line in kept.lines {
        text.push(line).ok_or(hunks.malformed())?;
    }
    Ok(text.bytes)
}

/// The lines that were made so far.
struct Output {
    bytes: Vec<u8>,
    lines: usize,
}

impl Output {
    /// `None` if the line before has no newline: it would become one with this.
    fn push(&mut self, line: &[u8]) -> Option<()> {
        if self.bytes.last().is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        self.bytes.extend_from_slice(line);
        self.lines += 1;
        Some(())
    }
}

/// The lines of the kept text that are not taken yet.
struct Kept<I> {
    lines: I,
    taken: usize,
}

impl<'k, I: Iterator<Item = &'k [u8]>> Kept<I> {
    fn next(&mut self) -> Result<&'k [u8], RestoreError> {
        self.taken += 1;
        self.lines.next().ok_or(self.other_text())
    }

    fn other_text(&self) -> RestoreError {
        RestoreError::OtherText { line: self.taken }
    }
}

/// Lines of one side of a hunk.
#[derive(Clone, Copy)]
struct Side {
    /// Lines of the text before the hunk.
    before: usize,
    lines: usize,
}

struct Header {
    old: Side,
    new: Side,
}

/// The hunks that are not read yet.
struct Hunks<'h> {
    rest: &'h [u8],
    line: usize,
}

impl<'h> Hunks<'h> {
    fn malformed(&self) -> RestoreError {
        RestoreError::Malformed { line: self.line.max(1) }
    }

    fn next(&mut self) -> Option<&'h [u8]> {
        let line = whole(self.rest).next()?;
        self.rest = &self.rest[line.len()..];
        self.line += 1;
        Some(line)
    }

    fn header(&mut self) -> Result<Option<Header>, RestoreError> {
        let Some(line) = self.next() else { return Ok(None) };
        header(line).map(Some).ok_or(self.malformed())
    }

    /// A line of a hunk's body without its sign.
    fn body(&mut self, sign: u8) -> Result<&'h [u8], RestoreError> {
        let line = self.next().and_then(|line| line.strip_prefix(&[sign]));
        let line = line.filter(|line| line.ends_with(b"\n")).ok_or(self.malformed())?;
        if !self.rest.starts_with(NO_NEWLINE) {
            return Ok(line);
        }
        self.next();
        // Nothing at all is no line.
        Some(without_end(line)).filter(|line| !line.is_empty()).ok_or(self.malformed())
    }
}

/// `@@ -2,3 +2 @@`
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
    // Of no lines, the number is of the line before.
    let before = if lines == 0 { first } else { first.checked_sub(1)? };
    Some(Side { before, lines })
}
