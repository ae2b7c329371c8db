//! An index from the rarest lines to texts.

use super::line_sets::LineSets;

/// A text at one of its rarest lines.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) text: u32,
    /// The size of its set.
    pub(super) size: u32,
    /// The position of the line in its set.
    pub(super) position: u32,
}

/// Posting lists of bounded length for each line, in one array of known size.
pub(super) struct Index {
    shared: u32,
    starts: Vec<usize>,
    used: Vec<u32>,
    postings: Vec<Posting>,
}

impl Index {
    /// Creates an empty index. `prefix` returns the number of lines of a set that are looked up, `most`
    /// is the maximum number of texts per line.
    pub(super) fn new(
        sets: &LineSets<'_>,
        texts: usize,
        most: usize,
        prefix: impl Fn(usize) -> usize,
    ) -> Self {
        // Lines that are in only one text are not indexed.
        let mut times = vec![0_usize; (sets.numbers - sets.shared) as usize];
        for text in 0..texts {
            let set = sets.set(text);
            for line in set[..prefix(set.len())].iter().filter(|line| **line >= sets.shared) {
                times[(line - sets.shared) as usize] += 1;
            }
        }
        let mut starts = Vec::with_capacity(times.len() + 1);
        let mut next = 0;
        for times in &times {
            starts.push(next);
            next += (*times).min(most);
        }
        starts.push(next);
        Self {
            shared: sets.shared,
            used: vec![0; times.len()],
            starts,
            postings: vec![Posting::default(); next],
        }
    }

    /// Returns the texts of a line, and whether the list is incomplete.
    pub(super) fn at(&self, line: u32) -> (&[Posting], bool) {
        let Some(line) = line.checked_sub(self.shared) else { return (&[], false) };
        let line = line as usize;
        let places = &self.postings[self.starts[line]..self.starts[line + 1]];
        match places.get(..self.used[line] as usize) {
            Some(used) => (used, false),
            None => (places, true),
        }
    }

    /// Adds a text to a line, unless the list is full.
    pub(super) fn add(&mut self, line: u32, posting: Posting) {
        let Some(line) = line.checked_sub(self.shared) else { return };
        let line = line as usize;
        let places = &mut self.postings[self.starts[line]..self.starts[line + 1]];
        let used = self.used[line] as usize;
        if let Some(place) = places.get_mut(used) {
            *place = posting;
        }
        // One more than the capacity marks an incomplete list.
        if used <= places.len() {
            self.used[line] += 1;
        }
    }
}
