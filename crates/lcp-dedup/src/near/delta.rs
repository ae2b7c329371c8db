//! Makes diffs of one text against another: hunks of a unified diff without context.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use foldhash::fast::RandomState;
use similar::Algorithm;
use similar::algorithms::{DiffHook, Replace, diff_slices};

use super::lines::{NO_NEWLINE, split_lines};

/// The maximum number of lines of both texts together, without the common lines at the beginning
/// and the end. The work per line grows with the square root of this number. A diff of this many
/// lines takes a third of a second at worst.
const DIFF_LINES_MAX: usize = 1 << 17;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Diff {
    Hunks(Vec<u8>),
    /// The hunks would be at least as long as the text.
    TooLong,
    /// The texts have more than [`DIFF_LINES_MAX`] lines.
    Bound,
}

/// Returns the hunks that convert `old_text` to `text`.
pub(super) fn diff(old_text: &[u8], text: &[u8]) -> Diff {
    // The diff also contains the removed lines.
    if old_text.len().saturating_sub(text.len()) >= text.len() {
        return Diff::TooLong;
    }
    let mut old: Vec<_> = split_lines(old_text).collect();
    let mut new: Vec<_> = split_lines(text).collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    old.drain(..head);
    new.drain(..head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    old.truncate(old.len() - tail);
    new.truncate(new.len() - tail);

    let mut numbers = Numbers::default();
    let old_numbers: Vec<_> = old.iter().map(|line| numbers.count(line, -1)).collect();
    let new_numbers: Vec<_> = new.iter().map(|line| numbers.count(line, 1)).collect();
    if numbers.differing_bytes() >= text.len() {
        return Diff::TooLong;
    }
    if old.len() + new.len() > DIFF_LINES_MAX {
        return Diff::Bound;
    }
    let hunks = Hunks { old: &old, new: &new, head, below: text.len(), out: Vec::new() };
    let mut hunks = Replace::new(hunks);
    // The diff has no deadline, so that the result is deterministic.
    match diff_slices(Algorithm::Myers, &mut hunks, &old_numbers, &new_numbers) {
        Ok(()) => Diff::Hunks(hunks.into_inner().out),
        Err(Full) => Diff::TooLong,
    }
}

/// The number of each line, and its surplus: the count in the new text minus the count in the old
/// text.
#[derive(Default)]
struct Numbers<'l> {
    known: HashMap<&'l [u8], u32, RandomState>,
    surplus: Vec<(usize, i64)>,
}

impl<'l> Numbers<'l> {
    /// Returns the number of a line and adds `times` to its surplus.
    fn count(&mut self, line: &'l [u8], times: i64) -> u32 {
        let next = self.surplus.len();
        // Texts with more lines would exceed `DIFF_LINES_MAX`.
        let number = *self.known.entry(line).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        if number as usize == next {
            self.surplus.push((line.len() + 1, 0));
        }
        if let Some((_, surplus)) = self.surplus.get_mut(number as usize) {
            *surplus += times;
        }
        number
    }

    /// Returns a lower bound for the bytes of every diff, regardless of the order of lines.
    fn differing_bytes(&self) -> usize {
        let bytes = |(bytes, surplus): &(usize, i64)| {
            bytes.saturating_mul(usize::try_from(surplus.unsigned_abs()).unwrap_or(usize::MAX))
        };
        self.surplus.iter().map(bytes).fold(0, usize::saturating_add)
    }
}

/// An error for hunks that are too long.
#[derive(Debug)]
struct Full;

/// A writer of hunks up to a maximum length.
struct Hunks<'h> {
    old: &'h [&'h [u8]],
    new: &'h [&'h [u8]],
    /// The number of common lines at the beginning.
    head: usize,
    /// The exclusive maximum length in bytes.
    below: usize,
    out: Vec<u8>,
}

impl Hunks<'_> {
    fn hunk(&mut self, old: Range<usize>, new: Range<usize>) -> Result<(), Full> {
        self.out.extend_from_slice(b"@@ -");
        self.side(&old);
        self.out.extend_from_slice(b" +");
        self.side(&new);
        self.out.extend_from_slice(b" @@\n");
        let (removed, added) = (&self.old[old], &self.new[new]);
        let removed = removed.iter().map(|line| (b'-', line));
        for (sign, line) in removed.chain(added.iter().map(|line| (b'+', line))) {
            if self.out.len() + line.len() >= self.below {
                return Err(Full);
            }
            self.out.push(sign);
            self.out.extend_from_slice(line);
            if !line.ends_with(b"\n") {
                self.out.push(b'\n');
                self.out.extend_from_slice(NO_NEWLINE);
            }
        }
        Ok(())
    }

    fn side(&mut self, lines: &Range<usize>) {
        // An empty range has the number of the line before.
        let first = self.head + lines.start + usize::from(!lines.is_empty());
        // Writing to memory does not fail.
        let _ = match lines.len() {
            1 => write!(self.out, "{first}"),
            count => write!(self.out, "{first},{count}"),
        };
    }
}

impl DiffHook for Hunks<'_> {
    type Error = Full;

    fn delete(&mut self, old: usize, lines: usize, new: usize) -> Result<(), Full> {
        self.hunk(old..old + lines, new..new)
    }

    fn insert(&mut self, old: usize, new: usize, lines: usize) -> Result<(), Full> {
        self.hunk(old..old, new..new + lines)
    }

    fn replace(&mut self, old: usize, olds: usize, new: usize, news: usize) -> Result<(), Full> {
        self.hunk(old..old + olds, new..new + news)
    }
}
