//! Lines of a result that an earlier one shows.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::RandomState;

/// The size of the shortest duplicate that is replaced, in bytes. A reference has about 200.
const BYTES_MIN: usize = 600;

/// The number of places that are remembered of a line. Frequent lines, such as closing brackets, begin no
/// duplicate.
const PLACES_MAX: usize = 16;

/// The lines of earlier results.
pub(crate) struct EarlierLines<'t> {
    /// The lines of the texts in which duplicates are looked for. Others need no place.
    wanted: HashSet<&'t str, RandomState>,
    texts: Vec<Vec<&'t str>>,
    /// The places of a line: the text and the index of the line.
    places: HashMap<&'t str, Vec<(u32, u32)>, RandomState>,
}

/// Consecutive lines that an earlier text has, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Duplicate {
    /// The lines by their indices.
    pub(crate) lines: Range<usize>,
    /// Their place in bytes.
    pub(crate) bytes: Range<usize>,
    /// The index of the earlier text, in the order in which the texts were added.
    pub(crate) text: usize,
    /// The index of the first line there.
    pub(crate) start: usize,
}

impl<'t> EarlierLines<'t> {
    /// Creates an index for duplicates in these texts.
    pub(crate) fn new(texts: impl Iterator<Item = &'t str>) -> Self {
        let long = texts.filter(|text| text.len() >= BYTES_MIN);
        let wanted = long.flat_map(|text| text.split_inclusive('\n')).collect();
        Self { wanted, texts: Vec::new(), places: HashMap::default() }
    }

    /// Adds a text that is shown in full.
    pub(crate) fn add(&mut self, text: &'t str) {
        if self.wanted.is_empty() {
            return;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        for (at, line) in (0..).zip(&lines).filter(|(_, line)| self.wanted.contains(*line)) {
            let places = self.places.entry(line).or_default();
            if places.len() < PLACES_MAX {
                places.push((number, at));
            }
        }
        self.texts.push(lines);
    }

    /// Returns the longest duplicate in a text, if it is long enough.
    pub(crate) fn longest_in(&self, text: &str) -> Option<Duplicate> {
        if self.places.is_empty() || text.len() < BYTES_MIN {
            return None;
        }
        let lines: Vec<_> = text.split_inclusive('\n').collect();
        let offsets: Vec<_> = std::iter::once(0)
            .chain(lines.iter().scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            }))
            .collect();
        let mut best: Option<Duplicate> = None;
        let mut at = 0;
        while at < lines.len() {
            let mut longest = 0;
            for (number, start) in self.places.get(lines[at]).into_iter().flatten() {
                let (number, start) = (*number as usize, *start as usize);
                let earlier = &self.texts[number][start..];
                let same = earlier.iter().zip(&lines[at..]).take_while(|(a, b)| a == b).count();
                longest = longest.max(same);
                let bytes = offsets[at]..offsets[at + same];
                if best.as_ref().is_none_or(|best| bytes.len() > best.bytes.len()) {
                    best = Some(Duplicate { lines: at..at + same, bytes, text: number, start });
                }
            }
            // Runs that begin within this one are not searched, so that the time is linear.
            at += longest.max(1);
        }
        best.filter(|best| best.bytes.len() >= BYTES_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(range: Range<usize>) -> String {
        let lines: Vec<_> =
            range.map(|at| format!("line {at} of a file that was read\n")).collect();
        lines.concat()
    }

    /// Returns the longest duplicate of earlier texts.
    fn longest(earlier: &[&str], text: &str) -> Option<Duplicate> {
        let mut lines = EarlierLines::new(std::iter::once(text));
        for text in earlier {
            lines.add(text);
        }
        lines.longest_in(text)
    }

    #[test]
    fn longest_run_of_lines_is_found() {
        let (first, second) = (lines(0..100), lines(200..400));
        let text = format!("header\n{}new\n{}end", lines(10..60), lines(250..390));
        let duplicate = longest(&[&first, &second], &text).unwrap();
        assert_eq!((duplicate.text, duplicate.start, duplicate.lines), (1, 50, 52..192));
        assert_eq!(text[duplicate.bytes], lines(250..390));
    }

    #[test]
    fn complete_text_is_a_duplicate() {
        let text = lines(0..40);
        let duplicate = longest(&[&text], &text).unwrap();
        assert_eq!((duplicate.lines, duplicate.bytes), (0..40, 0..text.len()));
    }

    #[test]
    fn short_and_other_texts_have_none() {
        let (first, text) = (lines(0..100), lines(10..20));
        assert!(text.len() < BYTES_MIN);
        assert_eq!(longest(&[&first], &text), None);
        assert_eq!(longest(&[&first], &lines(500..900)), None);
        assert_eq!(longest(&[&first], ""), None);
        // Blank lines occur everywhere.
        assert_eq!(longest(&[&first, "\n\n\n"], &"\n".repeat(1_000)), None);
    }
}
