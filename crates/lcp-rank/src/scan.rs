//! Counts of the terms of a question in the fields of a file.

use std::cell::RefCell;

use foldhash::{HashMap, HashMapExt};

use crate::paths::{folder, stem};
use crate::query::{Query, TermKind};
use crate::text_index::{self, Id, Neighbors, Occurrences, TextIndex, is_joint};
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
    /// Of bigrams: the words follow each other, but not in one identifier. Of identifiers: they have
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

/// The maximum number of known words.
const KNOWN_MAX: usize = 1 << 16;

/// A counter of the terms of a question.
pub(crate) struct Scanner<'q> {
    query: &'q Query,
    /// The words by their stems.
    words: HashMap<&'q str, u16>,
    /// The identifiers, and the bigrams as one word.
    squashed: HashMap<&'q str, Vec<u16>>,
    bigrams: HashMap<(u16, u16), u16>,
    /// The beginnings of words, and of identifiers. Most words are refused by them.
    starts: Starts,
    squashed_starts: Starts,
    splitter: WordSplitter,
    /// The terms of words whose stems were computed.
    known: RefCell<HashMap<String, Option<u16>>>,
}

/// The terms in an identifier.
#[derive(Clone, Debug, Default)]
struct Terms {
    /// The terms that count in the field of the identifier: words, bigrams, the identifier itself.
    counted: Vec<u16>,
    /// The terms that are written as two words elsewhere. They count as [`Field::Adjacent`].
    single: Vec<u16>,
    /// The terms of the first and of the last word.
    first: Option<u16>,
    last: Option<u16>,
}

/// The terms in the identifiers of a dictionary.
#[derive(Debug)]
pub(crate) struct DictionaryTerms {
    /// The place of each identifier in `terms`.
    places: Vec<u32>,
    /// The terms of the identifiers that have some; the first item has none.
    terms: Vec<Terms>,
}

impl Default for DictionaryTerms {
    fn default() -> Self {
        Self { places: Vec::new(), terms: vec![Terms::default()] }
    }
}

impl DictionaryTerms {
    /// Adds the next identifier of the dictionary. Returns whether it has terms.
    pub(crate) fn add(&mut self, scanner: &Scanner<'_>, identifier: &str) -> bool {
        let terms = scanner.identifier(identifier);
        let has_terms = terms.is_some();
        let place = if has_terms { self.terms.len() } else { 0 };
        self.places.push(u32::try_from(place).unwrap_or(0));
        self.terms.extend(terms);
        has_terms
    }

    fn get(&self, id: Id) -> &Terms {
        let place = self.places.get(id as usize).copied().unwrap_or(0);
        &self.terms[place as usize]
    }
}

impl<'q> Scanner<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        let mut scanner = Self {
            query,
            words: HashMap::new(),
            squashed: HashMap::new(),
            bigrams: HashMap::new(),
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
                TermKind::Bigram { first, second, joined } => {
                    scanner.bigrams.insert((id(*first), id(*second)), at);
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

    /// Returns the terms in the identifiers of a dictionary.
    pub(crate) fn terms<'d>(&self, dictionary: impl Iterator<Item = &'d str>) -> DictionaryTerms {
        let mut terms = DictionaryTerms::default();
        for identifier in dictionary {
            terms.add(self, identifier);
        }
        terms
    }

    /// Counts the terms in a path and an indexed text.
    pub(crate) fn scan(
        &self,
        path: &str,
        text: &TextIndex,
        dictionary: &DictionaryTerms,
    ) -> TermCounts {
        let mut counts = Counter { scanner: self, found: HashMap::new() };
        let mut lengths = [0; FIELDS];
        lengths[Field::Folders as usize] = counts.add_path(Field::Folders, folder(path));
        lengths[Field::Name as usize] = counts.add_path(Field::Name, stem(path));
        let found = RefCell::new(&mut counts);
        let each = |it: Occurrences| {
            let (terms, mut counts) = (dictionary.get(it.id), found.borrow_mut());
            for term in &terms.counted {
                counts.add(*term, Field::Body, it.count);
                if it.definitions > 0 {
                    counts.add(*term, Field::Definitions, it.definitions);
                }
            }
            for term in &terms.single {
                counts.add(*term, Field::Adjacent, it.count);
            }
        };
        let each_neighbors = |it: Neighbors| {
            let words = dictionary.get(it.first).last.zip(dictionary.get(it.second).first);
            if let Some(bigram) = words.and_then(|words| self.bigrams.get(&words)) {
                found.borrow_mut().add(*bigram, Field::Adjacent, it.count);
            }
        };
        let totals = text_index::read(&text.0, each, each_neighbors).unwrap_or_default();
        lengths[Field::Body as usize] = totals.all;
        lengths[Field::Definitions as usize] = totals.definitions;
        let mut found: Vec<_> = counts.found.into_iter().collect();
        found.sort_unstable_by_key(|(term, _)| *term);
        TermCounts { found, lengths }
    }

    /// Returns the terms in an identifier, if there are some.
    fn identifier(&self, identifier: &str) -> Option<Terms> {
        let mut found = Terms::default();
        let mut parts = 0;
        let mut last = None;
        for word in words(identifier) {
            let term = self.word(word);
            let bigram = last.zip(term).and_then(|words| self.bigrams.get(&words).copied());
            found.counted.extend(term.into_iter().chain(bigram));
            if parts == 0 {
                found.first = term;
            }
            last = term;
            parts += 1;
        }
        found.last = last;
        for &term in self.squashed(identifier) {
            match self.query.terms[usize::from(term)].kind {
                TermKind::Identifier { is_mentioned, .. } if is_mentioned || parts > 1 => {
                    found.counted.push(term);
                }
                TermKind::Identifier { .. } => found.single.push(term),
                // A bigram in an identifier of several words is counted by its words.
                TermKind::Bigram { .. } if parts <= 1 => found.counted.push(term),
                _ => {}
            }
        }
        (!found.counted.is_empty() || !found.single.is_empty()).then_some(found)
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
}

impl Counter<'_, '_> {
    /// Counts the terms in a part of a path. Returns the number of its words.
    fn add_path(&mut self, field: Field, path: &str) -> u32 {
        let (mut length, mut last, mut end) = (0, None, 0);
        for (start, identifier) in identifiers(path) {
            let parts = u32::try_from(words(identifier).count()).unwrap_or(u32::MAX);
            let terms = self.scanner.identifier(identifier).unwrap_or_default();
            for term in &terms.counted {
                self.add(*term, field, 1);
            }
            let words = last.zip(terms.first).filter(|_| is_joint(&path.as_bytes()[end..start]));
            let bigram = words.and_then(|words| self.scanner.bigrams.get(&words).copied());
            if let Some(bigram) = bigram {
                self.add(bigram, Field::Adjacent, 1);
            }
            if parts > 0 {
                last = terms.last;
            }
            end = start + identifier.len();
            length += parts;
        }
        length
    }

    fn add(&mut self, term: u16, field: Field, count: u32) {
        let counts = self.found.entry(term).or_default();
        counts[field as usize] = counts[field as usize].saturating_add(count);
    }
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
