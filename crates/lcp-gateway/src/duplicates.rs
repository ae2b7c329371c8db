//! Lines of a result that an earlier one shows. Texts are as they are written in JSON, without quotes,
//! so that the history need not be decoded.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;
use std::ops::Range;

use foldhash::fast::{FixedState, RandomState};

/// The size of the shortest duplicate that is replaced, in bytes. A reference has about 200.
const BYTES_MIN: usize = 600;

/// The size of the filter of lines. It fits into the L1 cache.
const FILTER_SLOTS: usize = 1 << 14;

/// The number of lines that are looked up in the filter at once.
const GROUP: usize = 16;

/// The number of places that are remembered of a line. Frequent lines, such as closing brackets, begin no
/// duplicate.
const PLACES_MAX: usize = 16;

/// The lines of texts. They are in two lists for all texts, because each request reads all hashes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// The hash of each line. It is odd if the line has a word.
    hashes: Vec<u64>,
    /// The end of each line in bytes in its text.
    ends: Vec<usize>,
    /// The number of lines up to the end of each text.
    counts: Vec<usize>,
}

impl Lines {
    /// Adds a text, and splits it after each line end. A text with a line end in another form (`\u000a`) gets
    /// no lines, because its line numbers would differ from those of a reader.
    pub(crate) fn add_text(&mut self, text: &str) {
        if memchr::memmem::find(text.as_bytes(), br"\u000").is_none() {
            self.add_lines(text);
        }
        self.counts.push(self.hashes.len());
    }

    fn add_lines(&mut self, text: &str) {
        let (mut start, mut end) = (0, 0);
        while let Some(backslash) = memchr::memchr(b'\\', text.as_bytes().get(end..).unwrap_or(&[]))
        {
            end += backslash + 2;
            if text.as_bytes().get(end - 1) == Some(&b'n') {
                self.add_line(&text[start..end], end);
                start = end;
            }
        }
        if start < text.len() {
            self.add_line(&text[start..], text.len());
        }
    }

    fn add_line(&mut self, line: &str, end: usize) {
        let hash: u64 = FixedState::default().hash_one(line);
        self.hashes.push(hash & !1 | u64::from(has_word(line)));
        self.ends.push(end);
    }

    /// Forgets all but the first texts.
    pub(crate) fn truncate(&mut self, texts: usize) {
        self.counts.truncate(texts);
        let lines = self.counts.last().copied().unwrap_or_default();
        self.hashes.truncate(lines);
        self.ends.truncate(lines);
    }

    /// Returns the lines of a text.
    pub(crate) fn get(&self, text: usize) -> TextLines<'_> {
        let start = text.checked_sub(1).map_or(0, |before| self.counts[before]);
        let lines = start..self.counts[text];
        TextLines { hashes: &self.hashes[lines.clone()], ends: &self.ends[lines] }
    }
}

/// The lines of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextLines<'l> {
    hashes: &'l [u64],
    ends: &'l [usize],
}

impl TextLines<'_> {
    fn bytes(&self, lines: Range<usize>) -> Range<usize> {
        let end_before = |line: usize| line.checked_sub(1).map_or(0, |line| self.ends[line]);
        end_before(lines.start)..end_before(lines.end)
    }

    fn is_long(&self) -> bool {
        self.bytes(0..self.ends.len()).len() >= BYTES_MIN
    }
}

/// The lines of earlier results.
pub(crate) struct EarlierLines<'t> {
    /// The lines that need a place: those with words, in the texts in which duplicates are looked for. Lines
    /// without words occur everywhere.
    wanted: HashSet<u64, RandomState>,
    /// A filter, indexed by 14 bits of a hash. A line whose slot is not set is not wanted, and needs no lookup.
    filter: [bool; FILTER_SLOTS],
    texts: Vec<TextLines<'t>>,
    /// The places of a line: the text and the index of the line.
    places: HashMap<u64, Vec<(u32, u32)>, RandomState>,
}

/// Consecutive lines with the same hashes as lines of an earlier text.
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
    /// The place of the lines there in bytes.
    pub(crate) original: Range<usize>,
}

impl<'t> EarlierLines<'t> {
    /// Creates an index for duplicates in these texts.
    pub(crate) fn new(texts: impl Iterator<Item = TextLines<'t>>) -> Self {
        let lines = texts.filter(TextLines::is_long).flat_map(|text| text.hashes);
        let wanted: HashSet<u64, RandomState> = lines.copied().filter(|it| it % 2 == 1).collect();
        let mut filter = [false; FILTER_SLOTS];
        for hash in &wanted {
            filter[slot(*hash)] = true;
        }
        Self { wanted, filter, texts: Vec::new(), places: HashMap::default() }
    }

    /// Adds a text that is shown in full.
    pub(crate) fn add(&mut self, text: TextLines<'t>) {
        if self.wanted.is_empty() {
            return;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let passes = |hash: &u64| self.filter[slot(*hash)];
        // Few groups have a line that passes. Without a branch for each line, this takes half the time.
        for (start, hashes) in (0..).step_by(GROUP).zip(text.hashes.chunks(GROUP)) {
            if !hashes.iter().fold(false, |any, hash| any | passes(hash)) {
                continue;
            }
            let wanted = (start..)
                .zip(hashes)
                .filter(|(_, hash)| passes(hash) && self.wanted.contains(hash));
            for (at, hash) in wanted {
                let places = self.places.entry(*hash).or_default();
                if places.len() < PLACES_MAX {
                    places.push((number, at));
                }
            }
        }
        self.texts.push(text);
    }

    /// Returns the longest duplicate in a text, if it is long enough.
    pub(crate) fn longest_in(&self, text: TextLines<'_>) -> Option<Duplicate> {
        if self.places.is_empty() || !text.is_long() {
            return None;
        }
        let lines = text.hashes;
        let mut best: Option<Duplicate> = None;
        // Runs that begin within another one are not searched, so that the time is linear.
        let (mut at, mut searched) = (0, 0);
        while at < lines.len() {
            let Some(places) = self.places.get(&lines[at]) else {
                at += 1;
                continue;
            };
            let mut end = at + 1;
            for (number, start) in places {
                let (number, start) = (*number as usize, *start as usize);
                let earlier = self.texts[number].hashes;
                let after = earlier[start..].iter().zip(&lines[at..]);
                let after = after.take_while(|(earlier, line)| earlier == line).count();
                // A run can begin with lines without words, which have no places.
                let before = earlier[..start].iter().rev().zip(lines[searched..at].iter().rev());
                let before = before.take_while(|(earlier, line)| earlier == line).count();
                end = end.max(at + after);
                let bytes = text.bytes(at - before..at + after);
                if best.as_ref().is_none_or(|best| bytes.len() > best.bytes.len()) {
                    let start = start - before;
                    let original = self.texts[number].bytes(start..start + before + after);
                    let lines = at - before..at + after;
                    best = Some(Duplicate { lines, bytes, text: number, start, original });
                }
            }
            (at, searched) = (end, end);
        }
        best.filter(|best| best.bytes.len() >= BYTES_MIN)
    }
}

/// Returns whether a line has a letter, a digit, or a character outside ASCII. Escapes such as `\n` do not
/// count.
fn has_word(line: &str) -> bool {
    let mut bytes = line.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' {
            bytes.next();
        } else if byte.is_ascii_alphanumeric() || !byte.is_ascii() {
            return true;
        }
    }
    false
}

/// Returns the slot of a hash in the filter. All wanted hashes have the same lowest bit.
const fn slot(hash: u64) -> usize {
    (hash / 2) as usize % FILTER_SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(range: Range<usize>) -> String {
        let lines: Vec<_> =
            range.map(|at| format!("line {at} of a file that was read\\n")).collect();
        lines.concat()
    }

    /// Returns the longest duplicate of earlier texts.
    fn longest(earlier: &[&str], text: &str) -> Option<Duplicate> {
        let mut lines = Lines::default();
        for text in earlier.iter().chain([&text]) {
            lines.add_text(text);
        }
        let text = lines.get(earlier.len());
        let mut index = EarlierLines::new(std::iter::once(text));
        for at in 0..earlier.len() {
            index.add(lines.get(at));
        }
        index.longest_in(text)
    }

    #[test]
    fn longest_run_of_lines_is_found() {
        let (first, second) = (lines(0..100), lines(200..400));
        let text = format!(r"header\n{}new\n{}end", lines(10..60), lines(250..390));
        let duplicate = longest(&[&first, &second], &text).unwrap();
        assert_eq!((duplicate.text, duplicate.start, duplicate.lines), (1, 50, 52..192));
        assert_eq!(text[duplicate.bytes], lines(250..390));
        assert_eq!(second[duplicate.original], lines(250..390));
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
        assert_eq!(longest(&[&first, r"\n\n\n"], &r"\n".repeat(1_000)), None);
    }

    #[test]
    fn lines_end_after_escaped_line_ends() {
        let split = |text: &'static str| {
            let mut lines = Lines::default();
            lines.add_text("other");
            lines.add_text(text);
            let lines = lines.get(1);
            let texts = (0..lines.ends.len()).map(|at| &text[lines.bytes(at..at + 1)]);
            texts.collect::<Vec<_>>()
        };
        let lines = split(r"one\n\\na \u00e9\n\nend\\");
        assert_eq!(lines, [r"one\n", r"\\na \u00e9\n", r"\n", r"end\\"]);
        assert_eq!(split(r"a\n"), [r"a\n"]);
        assert_eq!(split(""), [""; 0]);
        assert_eq!(split(r"a\n\u000Ab"), [""; 0]);
        let mut lines = Lines::default();
        lines.add_text(r"a\nb\na\n");
        let hashes = lines.get(0).hashes;
        assert!(hashes[0] == hashes[2] && hashes[0] != hashes[1]);
    }
}
