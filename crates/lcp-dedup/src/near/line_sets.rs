//! The lines of each text as numbers, in order and as sets.

use std::ops::Range;

use super::comments::{CommentStripper, CommentSyntax};
use super::lines::{comparison_key, intern_lines, split_lines, without_newline, without_number};

/// The maximum size of all texts together, in bytes, so that the number and the position of a line
/// fit in 32 bits.
const BYTES_MAX: usize = u32::MAX as usize;

/// A text of the join. The slice is ordered by rank, the best first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document<'t> {
    pub(crate) bytes: &'t [u8],
    /// `true` if white space is significant when lines are compared.
    pub(crate) exact: bool,
    /// The comments of the language.
    pub(crate) comments: CommentSyntax,
    /// `true` if the text must not be covered.
    pub(crate) fixed: bool,
}

/// The form in which texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The lines; see [`comparison_key`].
    Lines,
    /// The lines without indentation, trailing white space, numbers and comments.
    Code,
}

impl Form {
    /// The order in which the forms are tried.
    pub(super) const ALL: [Self; 2] = [Self::Lines, Self::Code];

    /// Returns whether lines of two texts with different keys differ.
    fn has_same_keys(self, one: &Document<'_>, other: &Document<'_>) -> bool {
        match self {
            Self::Lines => one.exact == other.exact,
            Self::Code => one.comments == other.comments,
        }
    }
}

impl<'t> Document<'t> {
    /// Returns the lines, and the part of each that is compared.
    pub(super) fn keys(&self, form: Form) -> impl Iterator<Item = (&'t [u8], &'t [u8])> {
        let exact = self.exact;
        let mut comments = CommentStripper::new(self.comments);
        split_lines(self.bytes).map(move |line| match form {
            Form::Lines => (line, comparison_key(line, exact)),
            Form::Code => (line, comments.strip(without_number(line))),
        })
    }
}

/// The result of [`LineSets::contains`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    Contained,
    Not,
    /// The limit of compared lines was reached.
    Bound,
}

/// A line of a text.
#[derive(Clone, Copy)]
struct Line {
    /// The number of the line. The rarest line has the lowest number.
    rank: u32,
    /// The end offset in the text.
    end: u32,
}

/// The lines of all texts by number. Rarer lines have lower numbers; equally frequent ones are
/// numbered in the order of appearance, so that no number depends on the hash key.
pub(super) struct LineSets<'t> {
    texts: &'t [Document<'t>],
    form: Form,
    lines: Vec<Line>,
    /// The start of each text in `lines`, and the end of the last one.
    line_starts: Vec<usize>,
    ranks: Vec<u32>,
    /// The start of each text in `ranks`, and the end of the last one.
    rank_starts: Vec<usize>,
    /// The lowest number of the lines in several texts. Lines with lower numbers are in only one
    /// text.
    pub(super) shared: u32,
    /// The number of different lines, which is the exclusive maximum of all line numbers.
    pub(super) numbers: u32,
    /// The number of texts that were read within the size limit.
    pub(super) read_count: usize,
}

/// The number of texts that have a line, counted while texts are read.
#[derive(Clone, Copy, Default)]
struct TextsWithLine {
    texts: u32,
    /// The last of these texts, counted from 1.
    last: u32,
}

impl<'t> LineSets<'t> {
    pub(super) fn new(texts: &'t [Document<'t>], form: Form) -> Self {
        let mut sets = Self {
            texts,
            form,
            lines: Vec::new(),
            line_starts: vec![0],
            ranks: Vec::new(),
            rank_starts: vec![0],
            shared: 0,
            numbers: 0,
            read_count: texts.len(),
        };
        let firsts = intern_lines(&sets.read());
        sets.rank(&firsts);
        sets.collect();
        sets
    }

    /// Splits all texts into lines; returns the compared part of each.
    fn read(&mut self) -> Vec<&'t [u8]> {
        let mut lines = Vec::new();
        let mut left = BYTES_MAX;
        for (at, text) in self.texts.iter().enumerate() {
            let Some(rest) = left.checked_sub(text.bytes.len()) else {
                self.read_count = at;
                break;
            };
            left = rest;
            if !text.bytes.trim_ascii().is_empty() {
                let mut end = 0;
                for (line, key) in text.keys(self.form) {
                    end += line.len();
                    self.lines.push(Line { rank: 0, end: number(end) });
                    lines.push(key);
                }
            }
            self.line_starts.push(self.lines.len());
        }
        lines
    }

    /// Numbers the lines. `firsts` has the first equal line of each line.
    fn rank(&mut self, firsts: &[u32]) {
        let mut seen = vec![TextsWithLine::default(); firsts.len()];
        for (text, range) in (1..).zip(self.line_starts.windows(2)) {
            for first in &firsts[range[0]..range[1]] {
                let seen = &mut seen[*first as usize];
                seen.texts += u32::from(seen.last != text);
                seen.last = text;
            }
        }
        let often = seen.iter().map(|seen| seen.texts).max().unwrap_or(0) as usize;
        // Counting sort. Only the first of equal lines has texts.
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

    /// Builds the sets.
    fn collect(&mut self) {
        self.ranks.reserve_exact(self.lines.len());
        let mut set = Vec::new();
        for range in self.line_starts.windows(2) {
            set.clear();
            set.extend(self.lines[range[0]..range[1]].iter().map(|line| line.rank));
            set.sort_unstable();
            set.dedup();
            // A set of a single line would be near too many texts.
            if set.len() > 1 {
                self.ranks.extend_from_slice(&set);
            }
            self.rank_starts.push(self.ranks.len());
        }
    }

    /// Returns the set of lines of a text, the rarest first; empty for a text that is not compared.
    pub(super) fn set(&self, text: usize) -> &[u32] {
        match self.rank_starts.get(text..text + 2) {
            Some(range) => &self.ranks[range[0]..range[1]],
            None => &[],
        }
    }

    /// Returns the positions of the lines of a text that was read.
    pub(super) fn places(&self, text: usize) -> Range<usize> {
        self.line_starts[text]..self.line_starts[text + 1]
    }

    /// Returns the number of the line at a position.
    pub(super) fn number(&self, place: usize) -> u32 {
        self.lines[place].rank
    }

    /// Returns the bytes of the line at a position of `text`, with its newline.
    pub(super) fn line(&self, text: usize, place: usize) -> &'t [u8] {
        let first = place == self.line_starts[text];
        let start = if first { 0 } else { self.lines[place - 1].end as usize };
        &self.texts[text].bytes[start..self.lines[place].end as usize]
    }

    /// Returns whether the lines of two texts were compared in the same way, so that lines with
    /// different numbers differ.
    pub(super) fn has_same_keys(&self, one: usize, other: usize) -> bool {
        self.form.has_same_keys(&self.texts[one], &self.texts[other])
    }

    /// Returns whether `container` has every line of `text`, byte for byte and in order. `limit` is
    /// the number of lines that may be compared; it is reduced.
    pub(super) fn contains(&self, container: usize, text: usize, limit: &mut usize) -> Scan {
        let same_keys = self.has_same_keys(container, text);
        let mut wanted = self.places(text);
        let mut there = self.places(container);
        let Some(mut want) = wanted.next() else { return Scan::Contained };
        loop {
            if there.len() <= wanted.len() {
                return Scan::Not;
            }
            let Some(place) = there.next() else { return Scan::Not };
            let Some(rest) = limit.checked_sub(1) else { return Scan::Bound };
            *limit = rest;
            let same = (!same_keys || self.number(place) == self.number(want))
                && without_newline(self.line(container, place))
                    == without_newline(self.line(text, want));
            if same {
                match wanted.next() {
                    Some(next) => want = next,
                    None => return Scan::Contained,
                }
            }
        }
    }
}

/// Converts a length of at most [`BYTES_MAX`].
#[expect(clippy::cast_possible_truncation, reason = "see BYTES_MAX")]
pub(super) fn number(length: usize) -> u32 {
    length as u32
}
