//! Where lines begin in a text, without a table of all of them.

use std::cell::OnceCell;

use super::Chunk;

/// Bytes that are counted in one go: as many newlines fit in one byte.
const BLOCK: usize = 128;
/// Bytes between two places that an index remembers.
const STEP: usize = 16 * BLOCK;

/// The lines of a text; behind a final newline there is none.
pub(super) fn count(text: &[u8]) -> u64 {
    let open = text.last().is_some_and(|last| *last != b'\n');
    newlines(text) + u64::from(open)
}

fn newlines(text: &[u8]) -> u64 {
    text.chunks(BLOCK).map(|block| u64::from(newlines_in_block(block))).sum()
}

/// Of at most [`BLOCK`] bytes: a sum of bytes, which a compiler makes wide.
fn newlines_in_block(block: &[u8]) -> u8 {
    block.iter().map(|byte| u8::from(*byte == b'\n')).sum()
}

/// The byte behind the `n`th newline, or the end of the text.
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

/// The chunks of a path, and where their lines begin, once that is asked.
pub(crate) struct Lines<'c, 't> {
    chunks: &'c [Chunk<'t>],
    /// For each chunk, the newlines before every [`STEP`]th byte.
    indices: Vec<OnceCell<Box<[u64]>>>,
}

impl<'c, 't> Lines<'c, 't> {
    pub(crate) fn new(chunks: &'c [Chunk<'t>]) -> Self {
        Self { chunks, indices: vec![OnceCell::new(); chunks.len()] }
    }

    /// The byte of a chunk at which a line begins, its end behind the last one.
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
        // The last step with fewer than `n` newlines before it; the first has none.
        let step = index.partition_point(|before| *before < n) - 1;
        step * STEP + behind_newline(&text[step * STEP..], n - index[step])
    }

    /// The last line of a chunk.
    pub(crate) fn last(&self, chunk: usize) -> u32 {
        self.chunks[chunk].last
    }

    /// What a chunk has from a line on.
    pub(crate) fn from(&self, chunk: usize, line: u32) -> &'t [u8] {
        &self.chunks[chunk].text[self.start(chunk, line)..]
    }

    /// Some of a chunk's lines.
    pub(crate) fn slice(&self, chunk: usize, (first, last): (u32, u32)) -> &'t [u8] {
        let Chunk { text, last: end, .. } = self.chunks[chunk];
        let to = if last == end { text.len() } else { self.start(chunk, last + 1) };
        &text[self.start(chunk, first)..to]
    }
}

/// What `text` has behind the lines of `head`; `None` where it does not begin
/// with those lines. The last line is the same with and without a newline.
pub(super) fn behind<'t>(text: &'t [u8], head: &[u8]) -> Option<&'t [u8]> {
    #[cfg(test)]
    COMPARED.set(COMPARED.get() + 1);
    let rest = text.strip_prefix(head)?;
    if rest.is_empty() || head.ends_with(b"\n") { Some(rest) } else { rest.strip_prefix(b"\n") }
}

/// Whether two texts have the same lines until one of them ends.
pub(crate) fn agree(a: &[u8], b: &[u8]) -> bool {
    let (text, head) = if a.len() < b.len() { (b, a) } else { (a, b) };
    behind(text, head).is_some()
}

#[cfg(test)]
thread_local! {
    /// How many texts were compared.
    pub(super) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_a_newline_and_behind_the_last_one_there_is_none() {
        for (text, lines) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb", 2)]
        {
            assert_eq!(count(text.as_bytes()), lines, "{text:?}");
        }
        assert_eq!(count(&[b'\n'; 1000]), 1000);
    }

    #[test]
    fn every_line_is_found_in_texts_of_any_size() {
        for lines in [1_u32, 2, 40, 700, 3000] {
            let text: String = (1..=lines).map(|n| "x".repeat(n as usize % 7) + "\n").collect();
            let chunk = Chunk { first: 11, last: 10 + lines, ..Chunk::from_text(text.as_bytes()) };
            let (chunks, mut at) = ([chunk], 0);
            let index = Lines::new(&chunks);
            for (line, content) in (11..).zip(text.split_inclusive('\n')) {
                assert_eq!(index.start(0, line), at);
                assert_eq!(index.slice(0, (line, line)), content.as_bytes());
                at += content.len();
            }
            assert_eq!(index.start(0, 11 + lines), text.len());
        }
    }

    #[test]
    fn the_last_newline_is_no_difference_and_any_other_byte_is() {
        assert_eq!(behind(b"a\nb", b"a"), Some(&b"b"[..]));
        assert_eq!(behind(b"a\nb", b"a\n"), Some(&b"b"[..]));
        assert_eq!(behind(b"a\n", b"a"), Some(&b""[..]));
        assert_eq!(behind(b"ab", b"a"), None);
        assert!(agree(b"a", b"a\n") && agree(b"a\n", b"a") && agree(b"a\nb", b"a"));
        assert!(!agree(b"a\r\n", b"a\n") && !agree(b"a ", b"a") && !agree(b"a\n\n", b"a\nb"));
    }
}
