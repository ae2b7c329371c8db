//! The text as the model sees it: characters replaced by the model's table,
//! white space written as `▁`.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::super::charsmap::Charsmap;

/// What stands for a space.
pub(super) const SPACE: char = '▁';

/// Texts that the model's author wanted to stay whole.
#[derive(Debug)]
pub(super) struct Symbols {
    /// By first byte: the lengths that there are, longest first.
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

    /// The length in bytes of the longest symbol that `text` begins with.
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
    /// Where a space is added.
    pub(super) dummy: Option<Side>,
    pub(super) remove_extra_spaces: bool,
    /// What spaces are written as.
    pub(super) space: char,
}

impl Normalizer {
    /// The normal form of what `text` begins with, and its length in `text`.
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

    /// Gives the normalized text to `each`, if `cut` in parts that begin with white space.
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
