//! A text as a diff against another: hunks as in a unified diff, without context.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;

use foldhash::fast::RandomState;
use similar::Algorithm;
use similar::algorithms::{DiffHook, Replace, diff_slices};

use super::lines::whole;
use super::restore::NO_NEWLINE;

/// Lines of both texts together, without those that both begin and end with, that a
/// diff is made of. The work for a line grows with the root of their number; this
/// many take a third of a second at worst.
const DIFF_LINES_MAX: usize = 1 << 17;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Diff {
    Hunks(Vec<u8>),
    /// The hunks would be as long as the text.
    TooLong,
    /// More lines than a diff is made of.
    Bound,
}

/// What makes `text` of `kept`.
pub(super) fn diff(kept: &[u8], text: &[u8]) -> Diff {
    // A line that was taken out stands in the diff as well.
    if kept.len().saturating_sub(text.len()) >= text.len() {
        return Diff::TooLong;
    }
    let mut old: Vec<_> = whole(kept).collect();
    let mut new: Vec<_> = whole(text).collect();
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    old.drain(..head);
    new.drain(..head);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    old.truncate(old.len() - tail);
    new.truncate(new.len() - tail);

    let mut numbers = Numbers::default();
    let old_numbers: Vec<_> = old.iter().map(|line| numbers.of(line, -1)).collect();
    let new_numbers: Vec<_> = new.iter().map(|line| numbers.of(line, 1)).collect();
    if numbers.differing_bytes() >= text.len() {
        return Diff::TooLong;
    }
    if old.len() + new.len() > DIFF_LINES_MAX {
        return Diff::Bound;
    }
    let hunks = Hunks { old: &old, new: &new, head, below: text.len(), out: Vec::new() };
    let mut hunks = Replace::new(hunks);
    // Without a deadline: what a clock decides is not the same twice.
    match diff_slices(Algorithm::Myers, &mut hunks, &old_numbers, &new_numbers) {
        Ok(()) => Diff::Hunks(hunks.into_inner().out),
        Err(Full) => Diff::TooLong,
    }
}

/// Numbers for lines, and how much more often the new text has each.
#[derive(Default)]
struct Numbers<'l> {
    known: HashMap<&'l [u8], u32, RandomState>,
    surplus: Vec<(usize, i64)>,
}

impl<'l> Numbers<'l> {
    fn of(&mut self, line: &'l [u8], times: i64) -> u32 {
        let next = self.surplus.len();
        // Memory holds fewer lines than that; were they more, the diff would be
        // made of more than `DIFF_LINES_MAX`, and none would be made.
        let number = *self.known.entry(line).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        if number as usize == next {
            self.surplus.push((line.len() + 1, 0));
        }
        if let Some((_, surplus)) = self.surplus.get_mut(number as usize) {
            *surplus += times;
        }
        number
    }

    /// Bytes of lines that stand in the diff in whatever order the texts have them.
    fn differing_bytes(&self) -> usize {
        let bytes = |(bytes, surplus): &(usize, i64)| {
            bytes.saturating_mul(usize::try_from(surplus.unsigned_abs()).unwrap_or(usize::MAX))
        };
        self.surplus.iter().map(bytes).fold(0, usize::saturating_add)
    }
}

/// The hunks are as long as they may be.
#[derive(Debug)]
struct Full;

/// Writes hunks, until they are too long.
struct Hunks<'h> {
    old: &'h [&'h [u8]],
    new: &'h [&'h [u8]],
    /// Lines that both texts begin with.
    head: usize,
    /// Bytes that the hunks stay below.
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
        // Of no lines, the number is of the line before.
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
