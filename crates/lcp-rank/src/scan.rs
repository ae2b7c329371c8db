//! Counts of the terms of a question in the fields of a file.

use std::cell::RefCell;

use foldhash::{HashMap, HashMapExt};

use crate::query::{Query, TermKind};
use crate::words::{WordSplitter, identifiers, squash, words};

/// The number of fields.
pub(crate) const FIELDS: usize = 5;

/// The fields of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Folders,
    Name,
    Definitions,
    Body,
    /// Of pairs: the words follow each other, but not in one identifier. Of identifiers: they have
    /// only one word.
    Adjacent,
}

/// The counts of a term by field.
pub(crate) type FieldCounts = [u32; FIELDS];

/// The occurrences of the terms of a question in a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermCounts {
    /// The counts of the terms that occur, in the order of the terms.
    pub(crate) found: Vec<(u16, FieldCounts)>,
    /// The number of words in each field.
    pub(crate) lengths: FieldCounts,
}

impl TermCounts {
    /// Returns the counts of a term.
    pub(crate) fn get(&self, term: u16) -> FieldCounts {
        let at = self.found.binary_search_by_key(&term, |(term, _)| *term);
        at.map_or([0; FIELDS], |at| self.found[at].1)
    }
}

/// The words that come before the name of a definition.
const KEYWORDS: [&str; 15] = [
    "class", "const", "def", "enum", "fn", "func", "fun", "function", "interface", "macro_rules",
    "mod", "static", "struct", "trait", "type",
];

/// The maximum number of known words.
const KNOWN_MAX: usize = 1 << 16;

/// Counts the terms of a question in texts.
pub(crate) struct Scanner<'q> {
    query: &'q Query,
    /// The words by their stems.
    words: HashMap<&'q str, u16>,
    /// The identifiers, and the pairs as one word.
    squashed: HashMap<&'q str, Vec<u16>>,
    pairs: HashMap<(u16, u16), u16>,
    /// The beginnings of words, and of identifiers. Most words are refused by them.
    starts: Starts,
    squashed_starts: Starts,
    splitter: WordSplitter,
    /// The terms of words whose stems were computed.
    known: RefCell<HashMap<String, Option<u16>>>,
}

/// A word of a text that is a term, and its place.
#[derive(Clone, Copy)]
struct Last {
    term: u16,
    /// The offset of the identifier, and of its end if the word is its last one.
    identifier: usize,
    end: Option<usize>,
}

impl<'q> Scanner<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        let mut scanner = Self {
            query,
            words: HashMap::new(),
            squashed: HashMap::new(),
            pairs: HashMap::new(),
            starts: Starts::default(),
            squashed_starts: Starts::default(),
            splitter: WordSplitter::default(),
            known: RefCell::new(HashMap::new()),
        };
        let id = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        for (term, at) in query.terms.iter().zip(0_u16..) {
            let squashed = match &term.kind {
                TermKind::Word(stem) => {
                    scanner.starts.add(stem);
                    scanner.words.insert(stem, at);
                    continue;
                }
                TermKind::Identifier { text, .. } => std::slice::from_ref(text),
                TermKind::Pair { first, second, joined } => {
                    scanner.pairs.insert((id(*first), id(*second)), at);
                    joined.as_slice()
                }
            };
            for text in squashed {
                scanner.squashed_starts.add(text);
                scanner.squashed.entry(text).or_default().push(at);
            }
        }
        scanner
    }

    /// Counts the terms in a path and a text.
    pub(crate) fn scan(&self, path: &str, text: &str) -> TermCounts {
        let mut counts = Counter { scanner: self, found: HashMap::new(), lengths: [0; FIELDS] };
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        counts.add(Field::Folders, folders);
        counts.add(Field::Name, name);
        counts.add(Field::Body, text);
        let mut found: Vec<_> = counts.found.into_iter().collect();
        found.sort_unstable_by_key(|(term, _)| *term);
        TermCounts { found, lengths: counts.lengths }
    }

    /// Counts only the words in a text.
    pub(crate) fn scan_words(&self, text: &str) -> TermCounts {
        let mut found: HashMap<u16, FieldCounts> = HashMap::new();
        let mut lengths = [0; FIELDS];
        for word in identifiers(text).flat_map(|(_, identifier)| words(identifier)) {
            lengths[Field::Body as usize] += 1;
            if let Some(term) = self.word(word) {
                found.entry(term).or_default()[Field::Body as usize] += 1;
            }
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by_key(|(term, _)| *term);
        TermCounts { found, lengths }
    }

    /// Returns the term of a word.
    fn word(&self, word: &str) -> Option<u16> {
        if !self.starts.may_have(word) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        let mut known = self.known.borrow_mut();
        if let Some(term) = known.get(&word) {
            return *term;
        }
        if known.len() > KNOWN_MAX {
            known.clear();
        }
        let term = self.words.get(self.splitter.stem(&word).as_ref()).copied();
        known.insert(word, term);
        term
    }

    /// Returns the terms of an identifier without `_`.
    fn squashed(&self, identifier: &str) -> &[u16] {
        if !self.squashed_starts.may_have(identifier.trim_start_matches('_')) {
            return &[];
        }
        self.squashed.get(squash(identifier).as_str()).map_or(&[], Vec::as_slice)
    }
}

/// The counts of one file.
struct Counter<'s, 'q> {
    scanner: &'s Scanner<'q>,
    found: HashMap<u16, FieldCounts>,
    lengths: FieldCounts,
}

impl Counter<'_, '_> {
    /// Counts the terms of a field. The names of definitions in the body count in their field, too.
    fn add(&mut self, field: Field, text: &str) {
        let mut is_definition = false;
        let mut last: Option<Last> = None;
        for (start, identifier) in identifiers(text) {
            let mut parts = 0;
            for word in words(identifier) {
                parts += 1;
                let term = self.scanner.word(word);
                if let Some(term) = term {
                    self.count(term, field, is_definition);
                }
                if let (Some(term), Some(last)) = (term, last)
                    && let Some(pair) = self.scanner.pairs.get(&(last.term, term)).copied()
                {
                    let is_same = last.identifier == start;
                    let gap = last.end.and_then(|end| text.get(end..start));
                    if is_same {
                        self.count(pair, field, is_definition);
                    } else if gap.is_some_and(is_joint) {
                        self.count(pair, Field::Adjacent, false);
                    }
                }
                last = term.map(|term| Last { term, identifier: start, end: None });
            }
            if let Some(last) = &mut last {
                last.end = Some(start + identifier.len());
            }
            self.lengths[field as usize] += parts;
            if is_definition {
                self.lengths[Field::Definitions as usize] += parts;
            }
            self.add_squashed(identifier, parts, field, is_definition);
            is_definition = field == Field::Body && KEYWORDS.contains(&identifier);
        }
    }

    /// Counts an identifier as a whole. One with several words is a term of this kind, and one with
    /// a single word can be a pair, or a mentioned symbol.
    fn add_squashed(&mut self, identifier: &str, parts: u32, field: Field, is_definition: bool) {
        for &term in self.scanner.squashed(identifier) {
            match self.scanner.query.terms[usize::from(term)].kind {
                TermKind::Identifier { is_mentioned, .. } if is_mentioned || parts > 1 => {
                    self.count(term, field, is_definition);
                }
                TermKind::Identifier { .. } if field == Field::Body => {
                    self.count(term, Field::Adjacent, false);
                }
                // A pair in an identifier of several words is counted by its words.
                TermKind::Pair { .. } if parts <= 1 => self.count(term, field, is_definition),
                _ => {}
            }
        }
    }

    fn count(&mut self, term: u16, field: Field, is_definition: bool) {
        let counts = self.found.entry(term).or_default();
        counts[field as usize] += 1;
        counts[Field::Definitions as usize] += u32::from(is_definition);
    }
}

/// Returns whether a text joins two words.
fn is_joint(gap: &str) -> bool {
    matches!(gap, " " | "-" | "\n" | "  " | "." | "::" | "->" | "/")
}

/// The first two letters of words. A stem begins like its word, except that `y` can become `i`.
#[derive(Default)]
struct Starts([u32; 26]);

impl Starts {
    fn add(&mut self, word: &str) {
        match place(word) {
            Some((first, bit)) => self.0[first] |= 1 << bit,
            // Any word may follow.
            None => self.0 = [u32::MAX; 26],
        }
    }

    fn may_have(&self, word: &str) -> bool {
        place(word).is_none_or(|(first, bit)| self.0[first] & (1 << bit) != 0)
    }
}

/// Returns the first letter and the class of the second one; `None` for words that do not begin
/// with a letter.
fn place(word: &str) -> Option<(usize, u8)> {
    let mut bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
    let first = bytes.next().filter(u8::is_ascii_lowercase)?;
    let class = match bytes.find(|byte| *byte != b'_') {
        Some(b'y') => b'i' - b'a',
        Some(letter @ b'a'..=b'z') => letter - b'a',
        _ => 26,
    };
    Some((usize::from(first - b'a'), class))
}
