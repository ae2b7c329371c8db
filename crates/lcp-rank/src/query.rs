//! The question: its terms, and the names that it mentions.

use std::collections::{BTreeMap, BTreeSet};

use crate::mentions::file_names;
use crate::paths::is_file_name;
use crate::words::{WordSplitter, identifiers, is_compound, is_stop_word, squash, words};

/// The maximum number of words and identifiers, and of bigrams, that are counted in files.
const TERMS_MAX: usize = 400;
const BIGRAMS_MAX: usize = 80;

/// The number of bytes at each end of a longer question that are read.
const QUERY_PART_BYTES: usize = 64 << 10;

/// A question about files: an issue, a stack trace, the output of a test, a diff, or a sentence.
#[derive(Clone, Debug)]
pub struct Query {
    /// The text, without the middle of a long one.
    pub(crate) text: String,
    pub(crate) terms: Vec<Term>,
    /// The names that certainly belong to the answer: paths, symbols, and addresses of lines.
    pub(crate) named: Vec<String>,
}

/// A word, an identifier or a bigram of words of the question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) kind: TermKind,
    /// The word as the question has it.
    pub(crate) shown: String,
    /// The weight by its occurrences in the question.
    pub(crate) weight: f64,
}

/// The kind of a term.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TermKind {
    /// A stem.
    Word(String),
    /// An identifier in lowercase and without `_`.
    Identifier {
        text: String,
        /// `true` if it is a symbol that certainly belongs to the answer.
        is_mentioned: bool,
    },
    /// Two words that follow each other, by their indices.
    Bigram {
        first: usize,
        second: usize,
        /// The two words as one, in lowercase.
        joined: Vec<String>,
    },
}

/// The factors of occurrences in the first line, and in code.
const SUBJECT: f64 = 2.0;
const CODE: f64 = 1.5;

/// The weight of a mentioned symbol.
const MENTIONED: f64 = 4.0;

impl Query {
    /// Reads a question. Of a text of more than 128 KiB, the middle is skipped.
    ///
    /// ```
    /// use lcp_rank::Query;
    ///
    /// assert!(!Query::new("The table printer drops the last row").is_empty());
    /// assert!(Query::new("?!").is_empty());
    /// ```
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = shorten(text.trim());
        let terms = terms(&text);
        Self { text, terms, named: Vec::new() }
    }

    /// Adds a path or a symbol that certainly belongs to the answer.
    #[must_use]
    pub fn with_mention(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        // The last identifier of a path to a symbol is its name. That of a file is its extension.
        let is_symbol = !is_file_name(&name);
        if let Some((_, symbol)) = identifiers(&name).last().filter(|_| is_symbol) {
            let text = squash(symbol);
            let kind = TermKind::Identifier { text, is_mentioned: true };
            let shown = symbol.to_owned();
            self.terms.push(Term { kind, shown, weight: MENTIONED });
        }
        self.named.push(name);
        self
    }

    /// Makes the names of files in the text certain, as if [`Self::with_mention`] gave them.
    #[must_use]
    pub fn with_certain_names(mut self) -> Self {
        self.named.extend(file_names(&self.text).map(str::to_owned));
        self
    }

    /// Returns the index of the term of a mentioned symbol.
    pub(crate) fn symbol_term(&self, name: &str) -> Option<usize> {
        let (_, symbol) = identifiers(name).last()?;
        let text = squash(symbol);
        let wanted = TermKind::Identifier { text, is_mentioned: true };
        self.terms.iter().position(|term| term.kind == wanted)
    }

    /// Returns whether nothing is asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.named.is_empty()
    }
}

/// Returns both ends of a long text.
fn shorten(text: &str) -> String {
    if text.len() <= 2 * QUERY_PART_BYTES {
        return text.to_owned();
    }
    let head = boundary(text, QUERY_PART_BYTES);
    let tail = boundary(text, text.len() - QUERY_PART_BYTES);
    format!("{}\n{}", &text[..head], &text[tail..])
}

/// Returns the last character boundary up to an offset.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The occurrences of a term.
#[derive(Default)]
struct Gathered<'t> {
    weight: f64,
    shown: &'t str,
}

/// Returns the terms of a question, the weightiest first.
fn terms(text: &str) -> Vec<Term> {
    let splitter = WordSplitter::default();
    let mut gathered: BTreeMap<(bool, String), Gathered<'_>> = BTreeMap::new();
    let (subject, body) = text.split_once('\n').unwrap_or((text, ""));
    for (part, factor) in [(subject, SUBJECT), (body, 1.0)] {
        let quoted = quoted_identifiers(part);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for (_, identifier) in identifiers(part) {
            *counts.entry(identifier).or_default() += 1;
        }
        for (identifier, count) in counts {
            let is_code = is_compound(identifier) || quoted.contains(identifier);
            let gain =
                factor * (1.0 + libm::log(f64::from(count))) * if is_code { CODE } else { 1.0 };
            let mut add = |is_identifier: bool, text: String, shown| {
                let term = gathered.entry((is_identifier, text)).or_default();
                if term.shown.is_empty() {
                    term.shown = shown;
                }
                term.weight += gain;
            };
            let mut lowercase: Vec<_> =
                words(identifier).map(|word| (word.to_ascii_lowercase(), word)).collect();
            lowercase.sort();
            lowercase.dedup_by(|a, b| a.0 == b.0);
            for (word, shown) in lowercase {
                if !is_stop_word(&word) || (is_code && word.len() > 2) {
                    add(false, splitter.stem(&word).into_owned(), shown);
                }
            }
            // A long word may be an identifier that the code writes as two.
            let may_be_compound =
                identifier.len() > 5 && !is_stop_word(&identifier.to_ascii_lowercase());
            if is_code && identifier.len() > 2 || may_be_compound {
                add(true, squash(identifier), identifier);
            }
        }
    }
    let mut terms: Vec<_> = gathered
        .into_iter()
        .map(|((is_identifier, text), gathered)| {
            let kind = if is_identifier {
                TermKind::Identifier { text, is_mentioned: false }
            } else {
                TermKind::Word(text)
            };
            Term { kind, shown: gathered.shown.to_owned(), weight: gathered.weight }
        })
        .collect();
    terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    terms.truncate(TERMS_MAX);
    let bigrams = bigrams(subject, body, &terms, &splitter);
    terms.extend(bigrams);
    terms
}

/// The maximum number of stop words between the words of a bigram.
const BETWEEN_MAX: usize = 2;

/// The weight of a bigram with such words between, relative to one without.
const APART: f64 = 0.25;

/// Returns the bigrams of the question.
fn bigrams(subject: &str, body: &str, terms: &[Term], splitter: &WordSplitter) -> Vec<Term> {
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, term) in terms.iter().enumerate() {
        if let TermKind::Word(stem) = &term.kind {
            indices.insert(stem, at);
        }
    }
    let mut bigrams: Vec<Term> = Vec::new();
    for (part, factor) in [(subject, SUBJECT), (body, 1.0)] {
        // The last word that counts, and the number of stop words since.
        let mut last: Option<(String, usize)> = None;
        let mut end = 0;
        for (start, identifier) in identifiers(part) {
            if !is_short_gap(&part[end..start]) {
                last = None;
            }
            end = start + identifier.len();
            let is_code = is_compound(identifier);
            for word in words(identifier) {
                let word = word.to_ascii_lowercase();
                let counts = !is_stop_word(&word) || (is_code && word.len() > 2);
                if !counts {
                    last = last.map(|(word, between)| (word, between + 1));
                    continue;
                }
                if let Some((before, between)) = last.filter(|(_, between)| *between <= BETWEEN_MAX)
                {
                    let first = indices.get(splitter.stem(&before).as_ref()).copied();
                    let second = indices.get(splitter.stem(&word).as_ref()).copied();
                    if let (Some(first), Some(second)) = (first, second)
                        && first != second
                    {
                        let weight = factor * if between == 0 { 1.0 } else { APART };
                        add_bigram(&mut bigrams, first, second, [&before, &word], weight);
                    }
                }
                last = Some((word, 0));
            }
        }
    }
    bigrams
}

/// Returns whether two words with this text between them can be a bigram.
fn is_short_gap(gap: &str) -> bool {
    let is_joint = |c: char| c.is_whitespace() || "-`\"'/.:_(".contains(c);
    let ends_a_sentence = gap.len() > 1 && gap.starts_with(['.', ':']) && !gap.starts_with("::");
    gap.chars().count() <= 3 && gap.chars().all(is_joint) && !ends_a_sentence && gap != "\n\n"
}

/// Adds a bigram of words, or an occurrence of a known one.
fn add_bigram(bigrams: &mut Vec<Term>, first: usize, second: usize, words: [&str; 2], weight: f64) {
    let text = words.concat();
    let known = bigrams.iter_mut().find(|bigram| match &bigram.kind {
        TermKind::Bigram { first: a, second: b, .. } => (*a, *b) == (first, second),
        _ => false,
    });
    if let Some(Term { kind: TermKind::Bigram { joined, .. }, weight: known, .. }) = known {
        if !joined.contains(&text) {
            joined.push(text);
        }
        *known = known.max(weight);
    } else if bigrams.len() < BIGRAMS_MAX {
        let kind = TermKind::Bigram { first, second, joined: vec![text] };
        bigrams.push(Term { kind, shown: words.join(" "), weight });
    }
}

/// Returns the identifiers between backticks on one line.
fn quoted_identifiers(text: &str) -> BTreeSet<&str> {
    let quoted = text.lines().flat_map(|line| {
        let parts = line.split('`').collect::<Vec<_>>();
        let last = parts.len() - 1;
        // The parts with odd numbers are quoted, except after a last single backtick.
        parts.into_iter().enumerate().filter(move |(at, _)| at % 2 == 1 && *at < last)
    });
    quoted.flat_map(|(_, part)| identifiers(part)).map(|(_, identifier)| identifier).collect()
}
