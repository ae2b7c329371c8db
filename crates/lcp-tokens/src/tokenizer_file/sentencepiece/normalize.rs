//! Normalizes a text for the model: replaces characters by the table of the model, and writes white
//! space as `▁`.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::charsmap::Charsmap;

/// The character that represents a space.
pub(super) const SPACE: char = '▁';

/// The user-defined symbols, which must not be split.
#[derive(Debug)]
pub(super) struct Symbols {
    /// The lengths of symbols by their first byte, longest first.
    lengths: HashMap<u8, BTreeSet<Reverse<usize>>>,
    texts: HashSet<Box<[u8]>>,
}

impl Symbols {
    pub(super) fn new<'a>(symbols: impl Iterator<Item = &'a str>) -> Self {
        let (mut lengths, mut texts) = (HashMap::<_, BTreeSet<_>>::new(), HashSet::new());
        for symbol in symbols.map(str::as_bytes) {
            lengths.entry(symbol[0]).or_default().insert(Reverse(symbol.len()));
            texts.insert(symbol.into());
        }
        Self { lengths, texts }
    }

    /// Returns the length in bytes of the longest symbol at the beginning of `text`.
    pub(super) fn at_start(&self, text: &str) -> Option<usize> {
        let bytes = text.as_bytes();
        let lengths = self.lengths.get(bytes.first()?)?.iter().map(|length| length.0);
        lengths.filter(|len| *len <= bytes.len()).find(|len| self.texts.contains(&bytes[..*len]))
    }
}

/// A side of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
}

#[derive(Debug)]
pub(super) struct Normalizer {
    pub(super) symbols: Symbols,
    pub(super) charsmap: Option<Charsmap>,
    /// The side of the text at which a space is added, if any.
    pub(super) dummy: Option<Side>,
    pub(super) remove_extra_spaces: bool,
    /// The character that spaces are replaced by.
    pub(super) space: char,
}

impl Normalizer {
    /// Returns the normal form of the first characters of `text`, and their length in `text`.
    fn first<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        if let Some(len) = self.symbols.at_start(text) {
            return (&text[..len], len);
        }
        if let Some((len, form)) = self.charsmap.as_ref().and_then(|map| map.replace(text)) {
            return (form, len);
        }
        let len = text.chars().next().map_or(0, char::len_utf8);
        (&text[..len], len)
    }

    /// Passes the normalized text to `each`. If `cut`, the text is cut into parts before white
    /// space.
    pub(super) fn run(&self, mut text: &str, cut: bool, mut each: impl FnMut(&str)) {
        if self.remove_extra_spaces {
            while !text.is_empty() {
                let (form, len) = self.first(text);
                if form != " " {
                    break;
                }
                text = &text[len..];
            }
        }
        if text.is_empty() {
            return;
        }
        let mut part = String::new();
        if self.dummy == Some(Side::Start) {
            part.push(self.space);
        }
        let mut after_space = self.remove_extra_spaces;
        while !text.is_empty() {
            let (mut form, len) = self.first(text);
            text = &text[len..];
            if after_space {
                form = form.trim_start_matches(' ');
            }
            for c in form.chars() {
                let c = if c == ' ' { self.space } else { c };
                if cut && c == SPACE && !part.is_empty() && !part.ends_with(SPACE) {
                    each(&part);
                    part.clear();
                }
                part.push(c);
            }
            if !form.is_empty() {
                after_space = form.ends_with(' ');
            }
            after_space &= self.remove_extra_spaces;
        }
        if self.remove_extra_spaces {
            part.truncate(part.trim_end_matches(self.space).len());
        }
        if self.dummy == Some(Side::End) {
            part.push(self.space);
        }
        if !part.is_empty() {
            each(&part);
        }
    }
}
