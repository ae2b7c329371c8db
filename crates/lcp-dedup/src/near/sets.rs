//! Each text as the lines that it has and as the set of them, numbers for lines.

use std::ops::Range;

use super::intern::firsts;
use super::join::Text;
use super::lines::{compared, whole};

/// Bytes of all texts together that are looked at, so that a line's number and place
/// fit in 32 bits.
const BYTES_MAX: usize = u32::MAX as usize;

/// A line of a text.
#[derive(Clone, Copy)]
struct Line {
    /// Its number: the rarest line has the lowest.
    rank: u32,
    /// Where it ends in its text.
    end: u32,
}

/// Lines by number, the rarest having the lowest; among lines that as many texts
/// have, in the order in which they appear: no number depends on the hash's key.
pub(super) struct Sets<'t> {
    texts: &'t [Text<'t>],
    lines: Vec<Line>,
    /// Where in `lines` each text begins, and where the last ends.
    line_starts: Vec<usize>,
    ranks: Vec<u32>,
    /// Where in `ranks` each text begins, and where the last ends.
    rank_starts: Vec<usize>,
    /// Numbers below this are of lines that one text alone has.
    pub(super) shared: u32,
    /// Numbers are below this.
    pub(super) numbers: u32,
    /// Texts from here on were not looked at: too many bytes.
    pub(super) looked_at: usize,
}

/// In how many texts a line stands, counted while texts are read.
#[derive(Clone, Copy, Default)]
struct Seen {
    texts: u32,
    /// The last of these, from 1 on.
    last: u32,
}

impl<'t> Sets<'t> {
    pub(super) fn new(texts: &'t [Text<'t>]) -> Self {
        let mut sets = Self {
            texts,
            lines: Vec::new(),
            line_starts: vec![0],
            ranks: Vec::new(),
            rank_starts: vec![0],
            shared: 0,
            numbers: 0,
            looked_at: texts.len(),
        };
        let firsts = firsts(&sets.read());
        sets.rank(&firsts);
        sets.collect();
        sets
    }

    /// Finds the lines, and what of each is compared.
    fn read(&mut self) -> Vec<&'t [u8]> {
        let mut lines = Vec::new();
        let mut left = BYTES_MAX;
        for (at, text) in self.texts.iter().enumerate() {
            let Some(rest) = left.checked_sub(text.bytes.len()) else {
                self.looked_at = at;
                break;
            };
            left = rest;
            if !text.bytes.trim_ascii().is_empty() {
                let mut end = 0;
                for line in whole(text.bytes) {
                    end += line.len();
                    self.lines.push(Line { rank: 0, end: number(end) });
                    lines.push(compared(line, text.exact));
                }
            }
            self.line_starts.push(self.lines.len());
        }
        lines
    }

    /// Gives lines numbers, of `firsts`: for each, the first that is the same.
    fn rank(&mut self, firsts: &[u32]) {
        let mut seen = vec![Seen::default(); firsts.len()];
        for (text, range) in (1..).zip(self.line_starts.windows(2)) {
            for first in &firsts[range[0]..range[1]] {
                let seen = &mut seen[*first as usize];
                seen.texts += u32::from(seen.last != text);
                seen.last = text;
            }
        }
        let often = seen.iter().map(|seen| seen.texts).max().unwrap_or(0) as usize;
        // Sorted by counting. What stands in no text is no first line.
        let mut next = vec![0_u32; often + 2];
        for seen in seen.iter().filter(|seen| seen.texts > 0) {
            next[seen.texts as usize + 1] += 1;
        }
        for times in 1..next.len() {
            next[times] += next[times - 1];
        }
        self.numbers = next[often + 1];
        self.shared = next.get(2).copied().unwrap_or(0);
        let mut ranks = vec![0; firsts.len()];
        for (rank, seen) in ranks.iter_mut().zip(&seen).filter(|(_, seen)| seen.texts > 0) {
            let place = &mut next[seen.texts as usize];
            *rank = *place;
            *place += 1;
        }
        for (line, first) in self.lines.iter_mut().zip(firsts) {
            line.rank = ranks[*first as usize];
        }
    }

    /// Makes the sets.
    fn collect(&mut self) {
        self.ranks.reserve_exact(self.lines.len());
        let mut set = Vec::new();
        for range in self.line_starts.windows(2) {
            set.clear();
            set.extend(self.lines[range[0]..range[1]].iter().map(|line| line.rank));
            set.sort_unstable();
            set.dedup();
            // One line is near too much.
            if set.len() > 1 {
                self.ranks.extend_from_slice(&set);
            }
            self.rank_starts.push(self.ranks.len());
        }
    }

    /// The set of a text's lines, the rarest first. Empty for a text that is left alone.
    pub(super) fn set(&self, text: usize) -> &[u32] {
        match self.rank_starts.get(text..text + 2) {
            Some(range) => &self.ranks[range[0]..range[1]],
            None => &[],
        }
    }

    /// The places of a text's lines. Only of a text that was looked at.
    pub(super) fn places(&self, text: usize) -> Range<usize> {
        self.line_starts[text]..self.line_starts[text + 1]
    }

    /// The number of the line at a place.
    pub(super) fn number(&self, place: usize) -> u32 {
        self.lines[place].rank
    }

    /// The bytes of the line at a place of `text`, with its newline.
    pub(super) fn line(&self, text: usize, place: usize) -> &'t [u8] {
        let first = place == self.line_starts[text];
        let start = if first { 0 } else { self.lines[place - 1].end as usize };
        &self.texts[text].bytes[start..self.lines[place].end as usize]
    }
}

/// A length of what is at most [`BYTES_MAX`] long.
#[expect(clippy::cast_possible_truncation, reason = "see BYTES_MAX")]
pub(super) fn number(length: usize) -> u32 {
    length as u32
}
