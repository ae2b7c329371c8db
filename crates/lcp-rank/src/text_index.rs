//! The identifiers of a text with their counts.
//!
//! A text index counts identifiers, and pairs of adjacent identifiers. A cached index counts all of them. An
//! index that is not cached needs only those with terms of the question. Both have the form of the cache:
//! numbers of variable length, in ascending order and as differences. So reading a cached index costs
//! nothing before it is used.

use foldhash::HashMap;

use crate::words::{identifiers, words};

/// The words that come before the name of a definition.
const KEYWORDS: [&str; 15] = [
    "class", "const", "def", "enum", "fn", "func", "fun", "function", "interface", "macro_rules",
    "mod", "static", "struct", "trait", "type",
];

/// The number of an identifier in its dictionary.
pub(crate) type Id = u32;

/// The identifiers of one text and their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextIndex(pub(crate) Vec<u8>);

/// The numbers of words in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordTotals {
    pub(crate) all: u32,
    /// The words in names of definitions.
    pub(crate) definitions: u32,
}

/// An identifier of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occurrences {
    pub(crate) id: Id,
    pub(crate) count: u32,
    /// The occurrences after a keyword such as `fn`.
    pub(crate) definitions: u32,
}

/// Two identifiers that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbors {
    pub(crate) first: Id,
    pub(crate) second: Id,
    pub(crate) count: u32,
}

/// An indexer of texts that share a dictionary.
#[derive(Default)]
pub(crate) struct TextIndexer<'t> {
    ids: HashMap<&'t str, Id>,
    known: Vec<Known<'t>>,
    /// The identifiers that occur in the current text.
    in_text: Vec<Id>,
    /// The identifiers of the current text that follow each other.
    neighbors: Vec<(Id, Id)>,
}

struct Known<'t> {
    text: &'t str,
    words: u32,
    is_keyword: bool,
    is_counted: bool,
    /// The occurrences in the current text, and those in definitions.
    count: u32,
    definitions: u32,
}

impl<'t> TextIndexer<'t> {
    /// Returns the identifiers in the order of their numbers.
    pub(crate) fn dictionary(&self) -> impl Iterator<Item = &'t str> {
        self.known.iter().map(|known| known.text)
    }

    /// Indexes a text. Calls `is_counted` once for each identifier that is new to the dictionary, in its
    /// order. Identifiers for which it returns `false` are only in the totals.
    pub(crate) fn index(
        &mut self,
        text: &'t str,
        mut is_counted: impl FnMut(&'t str) -> bool,
    ) -> TextIndex {
        let mut totals = WordTotals::default();
        let mut is_definition = false;
        // The last identifier with words, if it is counted.
        let mut last: Option<Id> = None;
        let mut end = 0;
        for (start, identifier) in identifiers(text) {
            let id = self.id(identifier, &mut is_counted);
            let known = &mut self.known[id as usize];
            totals.all += known.words;
            if is_definition {
                totals.definitions += known.words;
            }
            if known.is_counted {
                if known.count == 0 {
                    self.in_text.push(id);
                }
                known.count += 1;
                known.definitions += u32::from(is_definition);
            }
            if known.words > 0 {
                let next = known.is_counted.then_some(id);
                if let Some(pair) = last.zip(next)
                    && is_joint(&text.as_bytes()[end..start])
                {
                    self.neighbors.push(pair);
                }
                last = next;
            }
            end = start + identifier.len();
            is_definition = known.is_keyword;
        }
        self.encode(totals)
    }

    fn id(&mut self, identifier: &'t str, is_counted: impl FnOnce(&'t str) -> bool) -> Id {
        // Most identifiers are known, and `get` is faster than `entry`.
        if let Some(id) = self.ids.get(identifier) {
            return *id;
        }
        let id = Id::try_from(self.known.len()).unwrap_or(Id::MAX);
        self.ids.insert(identifier, id);
        self.known.push(Known {
            text: identifier,
            words: u32::try_from(words(identifier).count()).unwrap_or(u32::MAX),
            is_keyword: KEYWORDS.contains(&identifier),
            is_counted: is_counted(identifier),
            count: 0,
            definitions: 0,
        });
        id
    }

    /// Encodes the counts of the current text and sets them to 0.
    fn encode(&mut self, totals: WordTotals) -> TextIndex {
        self.in_text.sort_unstable();
        let mut bytes = Vec::with_capacity(4 * self.in_text.len() + 4 * self.neighbors.len());
        for number in [totals.all, totals.definitions] {
            put(&mut bytes, number);
        }
        put(&mut bytes, u32::try_from(self.in_text.len()).unwrap_or(u32::MAX));
        let mut before = 0;
        for id in self.in_text.drain(..) {
            let known = &mut self.known[id as usize];
            let (count, definitions) = (known.count, known.definitions);
            (known.count, known.definitions) = (0, 0);
            put(&mut bytes, id - before);
            put(&mut bytes, count << 1 | u32::from(definitions > 0));
            if definitions > 0 {
                put(&mut bytes, definitions);
            }
            before = id;
        }
        // Comparing one number is faster than comparing a pair.
        self.neighbors.sort_unstable_by_key(|(a, b)| u64::from(*a) << 32 | u64::from(*b));
        let mut before = 0;
        for same in self.neighbors.chunk_by(|a, b| a == b) {
            let (first, second) = same[0];
            put(&mut bytes, first - before);
            put(&mut bytes, second);
            put(&mut bytes, u32::try_from(same.len()).unwrap_or(u32::MAX));
            before = first;
        }
        self.neighbors.clear();
        bytes.shrink_to_fit();
        TextIndex(bytes)
    }
}

/// Returns whether a text joins two words.
pub(crate) fn is_joint(gap: &[u8]) -> bool {
    matches!(gap, [b' ' | b'-' | b'\n' | b'.' | b'/'] | b"  " | b"::" | b"->")
}

/// Reads a text index: the totals, each identifier, all neighbors. Malformed bytes end it early.
pub(crate) fn read(
    index: &[u8],
    mut each: impl FnMut(Occurrences),
    mut each_neighbors: impl FnMut(Neighbors),
) -> Option<WordTotals> {
    let mut bytes = index;
    let totals = WordTotals { all: take(&mut bytes)?, definitions: take(&mut bytes)? };
    let mut id = 0_u32;
    for _ in 0..take(&mut bytes)? {
        id = id.checked_add(take(&mut bytes)?)?;
        let count = take(&mut bytes)?;
        let definitions = if count & 1 == 1 { take(&mut bytes)? } else { 0 };
        each(Occurrences { id, count: count >> 1, definitions });
    }
    let mut first = 0_u32;
    while !bytes.is_empty() {
        first = first.checked_add(take(&mut bytes)?)?;
        let (second, count) = (take(&mut bytes)?, take(&mut bytes)?);
        each_neighbors(Neighbors { first, second, count });
    }
    Some(totals)
}

/// Appends a number of variable length: seven bits a byte, the lowest first.
pub(crate) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Takes a number of variable length from the front.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_has_identifiers_definitions_and_neighbors() {
        let mut indexer = TextIndexer::default();
        indexer.index("other", |_| true);
        let index = indexer.index("fn open() { open door; a door }", |_| true);
        let dictionary: Vec<_> = indexer.dictionary().collect();
        assert_eq!(dictionary, ["other", "fn", "open", "door", "a"]);
        let (mut identifiers, mut bigrams) = (Vec::new(), Vec::new());
        let totals = read(
            &index.0,
            |it| identifiers.push((dictionary[it.id as usize], it.count, it.definitions)),
            |it| bigrams.push((dictionary[it.first as usize], dictionary[it.second as usize])),
        );
        assert_eq!(totals, Some(WordTotals { all: 5, definitions: 1 }));
        assert_eq!(identifiers, [("fn", 1, 0), ("open", 2, 1), ("door", 2, 0), ("a", 1, 0)]);
        assert_eq!(bigrams, [("fn", "open"), ("open", "door"), ("door", "door")]);
    }

    #[test]
    fn uncounted_identifiers_are_only_in_totals() {
        let mut indexer = TextIndexer::default();
        let index = indexer.index("fn open() { close door; open door }", |it| it != "close");
        let dictionary: Vec<_> = indexer.dictionary().collect();
        let (mut identifiers, mut bigrams) = (Vec::new(), Vec::new());
        let totals = read(
            &index.0,
            |it| identifiers.push((dictionary[it.id as usize], it.count)),
            |it| bigrams.push((dictionary[it.first as usize], dictionary[it.second as usize])),
        );
        assert_eq!(totals, Some(WordTotals { all: 6, definitions: 1 }));
        assert_eq!(identifiers, [("fn", 1), ("open", 2), ("door", 2)]);
        assert_eq!(bigrams, [("fn", "open"), ("open", "door")]);
    }

    #[test]
    fn numbers_have_variable_lengths() {
        let mut bytes = Vec::new();
        let numbers = [0, 1, 127, 128, 300, 1 << 21, u32::MAX];
        for number in numbers {
            put(&mut bytes, number);
        }
        let mut rest = &bytes[..];
        let read: Vec<_> = std::iter::from_fn(|| take(&mut rest)).collect();
        assert_eq!(read, numbers);
        assert_eq!(take(&mut &[0x80][..]), None);
        assert_eq!(take(&mut &[0xff; 9][..]), None);
    }
}
