//! Counts of the terms of a question in the fields of a file.

use std::cell::RefCell;

use foldhash::{HashMap, HashMapExt};

use crate::query::Query;
use crate::words::{WordSplitter, identifiers, is_compound, squash, words};

/// The number of fields.
pub(crate) const FIELDS: usize = 4;

/// The fields of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Folders,
    Name,
    Definitions,
    Body,
}

/// The occurrences of the terms of a question in a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermCounts {
    /// The counts by field, of the terms that occur, in the order of the terms.
    pub(crate) found: Vec<(u16, [u32; FIELDS])>,
    /// The number of words in each field.
    pub(crate) lengths: [u32; FIELDS],
}

/// The maximum number of identifiers in a memo.
const MEMO_MAX: usize = 1 << 16;

/// The words that come before the name of a definition.
const KEYWORDS: [&str; 15] = [
    "class", "const", "def", "enum", "fn", "func", "fun", "function", "interface", "macro_rules",
    "mod", "static", "struct", "trait", "type",
];

/// What is known of an identifier.
#[derive(Clone, Debug, Default)]
struct Known {
    words: u32,
    is_keyword: bool,
    /// The terms of its words and of the identifier itself, each as often as it occurs.
    terms: Vec<u16>,
}

/// Counts the terms of a question in texts.
pub(crate) struct Scanner<'q> {
    query: &'q Query,
    terms: HashMap<&'q str, u16>,
    identifiers: HashMap<&'q str, u16>,
    splitter: WordSplitter,
    memo: RefCell<HashMap<String, Known>>,
}

impl<'q> Scanner<'q> {
    pub(crate) fn new(query: &'q Query) -> Self {
        let of_kind = |is_identifier| {
            let terms = query.terms.iter().zip(0_u16..);
            let terms = terms.filter(move |(term, _)| term.is_identifier == is_identifier);
            terms.map(|(term, at)| (term.text.as_str(), at)).collect()
        };
        Self {
            query,
            terms: of_kind(false),
            identifiers: of_kind(true),
            splitter: WordSplitter::default(),
            memo: RefCell::new(HashMap::new()),
        }
    }

    /// Counts the terms in a path and a text.
    pub(crate) fn scan(&self, path: &str, text: &str) -> TermCounts {
        let mut counts = TermCounts::default();
        let mut by_term: HashMap<u16, [u32; FIELDS]> = HashMap::new();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        self.add(Field::Folders, folders, &mut by_term, &mut counts.lengths);
        self.add(Field::Name, name, &mut by_term, &mut counts.lengths);
        self.add(Field::Body, text, &mut by_term, &mut counts.lengths);
        counts.found = by_term.into_iter().collect();
        counts.found.sort_unstable_by_key(|(term, _)| *term);
        counts
    }

    fn add(
        &self,
        field: Field,
        text: &str,
        counts: &mut HashMap<u16, [u32; FIELDS]>,
        lengths: &mut [u32; FIELDS],
    ) {
        let mut memo = self.memo.borrow_mut();
        if memo.len() > MEMO_MAX {
            memo.clear();
        }
        let mut is_definition = false;
        for (_, identifier) in identifiers(text) {
            if !memo.contains_key(identifier) {
                memo.insert(identifier.to_owned(), self.inspect(identifier));
            }
            let known = &memo[identifier];
            lengths[field as usize] += known.words;
            if is_definition && field == Field::Body {
                lengths[Field::Definitions as usize] += known.words;
            }
            for term in &known.terms {
                let counts = counts.entry(*term).or_default();
                counts[field as usize] += 1;
                if is_definition && field == Field::Body {
                    counts[Field::Definitions as usize] += 1;
                }
            }
            is_definition = known.is_keyword;
        }
    }

    fn inspect(&self, identifier: &str) -> Known {
        let mut known =
            Known { is_keyword: KEYWORDS.contains(&identifier), ..Known::default() };
        for word in words(identifier) {
            known.words += 1;
            let word = word.to_ascii_lowercase();
            known.terms.extend(self.terms.get(self.splitter.stem(&word).as_ref()));
        }
        // A word counts as an identifier only if it is mentioned as one.
        let term = self.identifiers.get(squash(identifier).as_str());
        let counts = |term: &&u16| {
            is_compound(identifier) || self.query.terms[usize::from(**term)].is_mentioned
        };
        known.terms.extend(term.filter(counts));
        known
    }
}
