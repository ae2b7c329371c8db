//! Finds lines in texts without a table of all lines, and handles line ranges.

use std::cell::OnceCell;

use super::Chunk;

/// The number of bytes to count at once. The number of newlines in a block fits in one byte.
const BLOCK: usize = 128;
/// The number of bytes between two entries of an index.
const STEP: usize = 16 * BLOCK;

/// Returns the number of lines of a text. A final newline does not begin another line.
pub(super) fn count(text: &[u8]) -> u64 {
    let open = text.last().is_some_and(|last| *last != b'\n');
    newlines(text) + u64::from(open)
}

fn newlines(text: &[u8]) -> u64 {
    text.chunks(BLOCK).map(|block| u64::from(newlines_in_block(block))).sum()
}

/// Counts the newlines in at most [`BLOCK`] bytes. The compiler can vectorize the sum of bytes.
fn newlines_in_block(block: &[u8]) -> u8 {
    block.iter().map(|byte| u8::from(*byte == b'\n')).sum()
}

/// Returns the offset after the `n`th newline, or the end of the text.
fn behind_newline(text: &[u8], mut n: u64) -> usize {
    let mut at = 0;
    for block in text.chunks(BLOCK) {
        let here = u64::from(newlines_in_block(block));
        if n <= here {
            break;
        }
        (n, at) = (n - here, at + block.len());
    }
    for byte in &text[at..] {
        if n == 0 {
            break;
        }
        (n, at) = (n - u64::from(*byte == b'\n'), at + 1);
    }
    at
}

/// The chunks of a path, and an index of their lines that is built on demand.
pub(crate) struct Lines<'c, 't> {
    chunks: &'c [Chunk<'t>],
    /// For each chunk, the number of newlines before every [`STEP`]th byte.
    indices: Vec<OnceCell<Box<[u64]>>>,
}

impl<'c, 't> Lines<'c, 't> {
    pub(crate) fn new(chunks: &'c [Chunk<'t>]) -> Self {
        Self { chunks, indices: vec![OnceCell::new(); chunks.len()] }
    }

    /// Returns the offset of a line in the text of a chunk, or the end of the text for a line after
    /// the last one.
    pub(super) fn start(&self, chunk: usize, line: u32) -> usize {
        let Chunk { text, first, .. } = self.chunks[chunk];
        let n = u64::from(line) - u64::from(first);
        if n == 0 {
            return 0;
        }
        if text.len() <= STEP {
            return behind_newline(text, n);
        }
        let index = self.indices[chunk].get_or_init(|| {
            let mut before = 0;
            let sums = text.chunks(STEP).map(|step| {
                let sum = before;
                before += newlines(step);
                sum
            });
            sums.collect()
        });
        // The last step with fewer than `n` newlines before it. There is always one, because the
        // first step has 0.
        let step = index.partition_point(|before| *before < n) - 1;
        step * STEP + behind_newline(&text[step * STEP..], n - index[step])
    }

    /// Returns the last line of a chunk.
    pub(crate) fn last(&self, chunk: usize) -> u32 {
        self.chunks[chunk].last
    }

    /// Returns the text of a chunk from a line to the end.
    pub(crate) fn from(&self, chunk: usize, line: u32) -> &'t [u8] {
        &self.chunks[chunk].text[self.start(chunk, line)..]
    }

    /// Returns the text of a range of a chunk's lines.
    pub(crate) fn slice(&self, chunk: usize, (first, last): (u32, u32)) -> &'t [u8] {
        let Chunk { text, last: end, .. } = self.chunks[chunk];
        let to = if last == end { text.len() } else { self.start(chunk, last + 1) };
        &text[self.start(chunk, first)..to]
    }
}

/// Returns the rest of `text` after the lines of `head`, or `None` if it does not begin with those
/// lines. A missing newline at the end of `head` does not matter.
pub(super) fn behind<'t>(text: &'t [u8], head: &[u8]) -> Option<&'t [u8]> {
    #[cfg(test)]
    COMPARED.set(COMPARED.get() + 1);
    let rest = text.strip_prefix(head)?;
    if rest.is_empty() || head.ends_with(b"\n") { Some(rest) } else { rest.strip_prefix(b"\n") }
}

/// Returns whether two texts have the same lines up to the end of the shorter one.
pub(crate) fn agree(a: &[u8], b: &[u8]) -> bool {
    let (text, head) = if a.len() < b.len() { (b, a) } else { (a, b) };
    behind(text, head).is_some()
}

/// An error for a line range that does not fit the text of its chunk (RFC 0006 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineRangeError {
    /// The text is empty.
    #[error("the text is empty")]
    Empty,
    /// The range begins or ends with line 0, but lines are counted from 1.
    #[error("line numbers start at 1, got 0")]
    Zero,
    /// The last line is before the first.
    #[error("the line range {first} to {last} ends before it begins")]
    Inverted {
        /// The first line of the range.
        first: u32,
        /// The last line of the range.
        last: u32,
    },
    /// The number of lines in the text differs from the length of the range.
    #[error(
        "the line range {first} to {last} does not match the number of lines in the text, {lines}"
    )]
    Length {
        /// The first line of the range.
        first: u32,
        /// The last line of the range.
        last: u32,
        /// The number of lines in the text.
        lines: u64,
    },
    /// Only one end is given, and the other end would not be a valid line number.
    #[error("the line range is out of bounds: one end is line {end}, number of lines is {lines}")]
    Outside {
        /// The given end.
        end: u32,
        /// The number of lines in the text.
        lines: u64,
    },
}

/// Returns the first and the last line of a text. If one end is missing, it follows from the other
/// end and the number of lines. If both are missing, lines are counted from 1.
///
/// # Errors
///
/// Returns a [`LineRangeError`] if the range is invalid or does not have as many lines as the text.
pub(crate) fn range_of(
    line_start: Option<u32>,
    line_end: Option<u32>,
    text: &[u8],
) -> Result<(u32, u32), LineRangeError> {
    let lines = count(text);
    if lines == 0 {
        return Err(LineRangeError::Empty);
    }
    if line_start == Some(0) || line_end == Some(0) {
        return Err(LineRangeError::Zero);
    }
    let outside = |end| LineRangeError::Outside { end, lines };
    match (line_start, line_end) {
        (Some(first), Some(last)) if first > last => Err(LineRangeError::Inverted { first, last }),
        (Some(first), Some(last)) if lines_in((first, last)) != lines => {
            Err(LineRangeError::Length { first, last, lines })
        }
        (Some(first), Some(last)) => Ok((first, last)),
        (None, Some(last)) => {
            let first = (u64::from(last) + 1).checked_sub(lines).filter(|first| *first > 0);
            let first = first.and_then(|first| u32::try_from(first).ok());
            first.map(|first| (first, last)).ok_or(outside(last))
        }
        (first, None) => {
            let first = first.unwrap_or(1);
            let last = u32::try_from(u64::from(first) + lines - 1);
            last.map(|last| (first, last)).map_err(|_| outside(first))
        }
    }
}

/// Returns the number of common lines of two ranges, divided by the number of lines of the smaller
/// range: 0 to 1 (Task 016.c).
pub(crate) fn overlap(a: (u32, u32), b: (u32, u32)) -> f64 {
    let smaller = lines_in(a).min(lines_in(b));
    if smaller == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are 2^32 line numbers")]
    let part = lines_in((a.0.max(b.0), a.1.min(b.1))) as f64 / smaller as f64;
    part
}

/// Returns whether two ranges have a line in common.
pub(super) fn shares((first, last): (u32, u32), other: (u32, u32)) -> bool {
    first <= other.1 && other.0 <= last
}

/// Returns whether `outer` (the first argument) contains every line of `inner`.
pub(super) fn contains((first, last): (u32, u32), inner: (u32, u32)) -> bool {
    first <= inner.0 && inner.1 <= last
}

fn lines_in((first, last): (u32, u32)) -> u64 {
    (u64::from(last) + 1).saturating_sub(u64::from(first))
}

#[cfg(test)]
thread_local! {
    /// The number of comparisons of texts.
    pub(super) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests;
