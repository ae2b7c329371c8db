//! Which of the kept texts have a line among their rarest.

use super::sets::Sets;

/// A kept text at one of its rarest lines.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) text: u32,
    /// Lines of its set.
    pub(super) size: u32,
    /// Place of the line in its set.
    pub(super) position: u32,
}

/// Places for a bounded number of texts a line, in one array: as many as there can
/// be is known before.
pub(super) struct Index {
    shared: u32,
    starts: Vec<usize>,
    used: Vec<u32>,
    postings: Vec<Posting>,
}

impl Index {
    /// `prefix` says how many lines of a set of some size are looked up, `most` how
    /// many texts are remembered for a line.
    pub(super) fn new(
        sets: &Sets<'_>,
        texts: usize,
        most: usize,
        prefix: impl Fn(usize) -> usize,
    ) -> Self {
        // Nobody looks for a line that one text alone has.
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

    /// The texts that were added at a line, and whether some found no place.
    pub(super) fn at(&self, line: u32) -> (&[Posting], bool) {
        let Some(line) = line.checked_sub(self.shared) else { return (&[], false) };
        let line = line as usize;
        let places = &self.postings[self.starts[line]..self.starts[line + 1]];
        match places.get(..self.used[line] as usize) {
            Some(used) => (used, false),
            None => (places, true),
        }
    }

    /// Adds a text at a line, where there is a place.
    pub(super) fn add(&mut self, line: u32, posting: Posting) {
        let Some(line) = line.checked_sub(self.shared) else { return };
        let line = line as usize;
        let places = &mut self.postings[self.starts[line]..self.starts[line + 1]];
        let used = self.used[line] as usize;
        if let Some(place) = places.get_mut(used) {
            *place = posting;
        }
        // One more than there are places: some found none.
        if used <= places.len() {
            self.used[line] += 1;
        }
    }
}
