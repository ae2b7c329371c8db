//! The formula: the score of each file by its words, and of each passage.

use foldhash::{HashMap, HashMapExt};

use crate::history::idf;
use crate::parameters as p;
use crate::query::{Query, Term, TermKind};
use crate::scan::{FIELDS, Field, FieldCounts, TermCounts};

/// The statistics of all files that scores depend on.
pub(crate) struct Statistics {
    /// The rarity of each term; 0 for terms that do not count.
    rarity: Vec<f64>,
    /// The mean length of each field, of the files that have it.
    means: [f64; FIELDS],
}

impl Statistics {
    pub(crate) fn new<'c>(
        query: &Query,
        files: impl ExactSizeIterator<Item = &'c TermCounts> + Clone,
    ) -> Self {
        let mut with_term: HashMap<u16, u32> = HashMap::new();
        let mut lengths = [(0_u64, 0_u64); FIELDS];
        let count = files.len();
        for file in files {
            for (term, counts) in &file.found {
                let is_identifier =
                    matches!(query.terms[usize::from(*term)].kind, TermKind::Identifier { .. });
                if !is_identifier || counts[Field::Body as usize] > 0 {
                    *with_term.entry(*term).or_default() += 1;
                }
            }
            for (sum, length) in lengths.iter_mut().zip(file.lengths) {
                sum.0 += u64::from(length);
                sum.1 += u64::from(length > 0);
            }
        }
        let rarity = |at: usize| {
            let with_term = u16::try_from(at).ok().and_then(|at| with_term.get(&at).copied());
            with_term.map_or(0.0, |files| idf(count, files))
        };
        let mut rarity: Vec<_> = (0..query.terms.len()).map(rarity).collect();
        drop_light_terms(query, &mut rarity);
        let mean =
            |(sum, files): (u64, u64)| if files == 0 { 1.0 } else { sum as f64 / files as f64 };
        Self { rarity, means: lengths.map(mean) }
    }

    /// Returns the score of a file by its words.
    pub(crate) fn words(&self, query: &Query, file: &TermCounts) -> f64 {
        file.found
            .iter()
            .map(|(term, counts)| self.word(query, usize::from(*term), counts, file))
            .sum()
    }

    /// Returns the part of that score that a term has.
    pub(crate) fn word(
        &self,
        query: &Query,
        term: usize,
        counts: &FieldCounts,
        file: &TermCounts,
    ) -> f64 {
        let count = |field: Field| f64::from(counts[field as usize]);
        let (mixed, k1, factor) = match query.terms[term].kind {
            TermKind::Word(_) => {
                let field = |at: usize| {
                    let length = f64::from(file.lengths[at]) / self.means[at];
                    let norm = 1.0 - p::FIELD_B[at] + p::FIELD_B[at] * length;
                    p::FIELD_WEIGHTS[at] * f64::from(counts[at]) / norm.max(0.05)
                };
                ((0..p::FIELD_WEIGHTS.len()).map(field).sum(), p::K1, 1.0)
            }
            TermKind::Identifier { .. } => {
                let definitions = p::IDENTIFIER_DEFINITIONS * count(Field::Definitions);
                (count(Field::Body) + definitions, p::K1, 1.0)
            }
            TermKind::Pair { .. } => {
                let mixed = count(Field::Body)
                    + p::PAIR_ADJACENT * count(Field::Adjacent)
                    + p::PAIR_DEFINITIONS * count(Field::Definitions)
                    + p::PAIR_NAME * count(Field::Name);
                (mixed, p::PAIR_K1, p::PAIR)
            }
        };
        factor * self.weight(query, term) * mixed * (k1 + 1.0) / (mixed + k1)
    }

    /// Returns the weight of a term.
    pub(crate) fn weight(&self, query: &Query, term: usize) -> f64 {
        libm::pow(query.terms[term].weight, p::TERM_POWER) * self.rarity[term]
    }
}

/// Sets the rarity of all but the first terms to 0, by weight and rarity.
fn drop_light_terms(query: &Query, rarity: &mut [f64]) {
    let mut order: Vec<_> = (0..rarity.len()).collect();
    let value = |term: &Term, rarity: f64| term.weight * rarity;
    order.sort_by(|&a, &b| {
        value(&query.terms[b], rarity[b]).total_cmp(&value(&query.terms[a], rarity[a]))
    });
    let is_pair = |at: &usize| matches!(query.terms[*at].kind, TermKind::Pair { .. });
    order.retain(|at| !is_pair(at));
    for &light in order.iter().skip(p::TERMS) {
        rarity[light] = 0.0;
    }
}

/// Divides all numbers by the largest one.
pub(crate) fn scale(numbers: &mut [f64]) {
    let largest = numbers.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        numbers.iter_mut().for_each(|number| *number /= largest);
    }
}

/// A passage of a file, with the terms in it.
#[derive(Clone, Debug)]
pub(crate) struct PassageCounts {
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
    pub(crate) counts: TermCounts,
}

/// Returns the score of a passage by its words. `mean` is the mean number of words of passages.
pub(crate) fn passage_words(
    statistics: &Statistics,
    query: &Query,
    passage: &PassageCounts,
    mean: f64,
) -> f64 {
    let length = f64::from(passage.counts.lengths[Field::Body as usize]);
    let norm = p::PASSAGE_K1 * (1.0 - p::PASSAGE_B + p::PASSAGE_B * length / mean);
    let term = |(term, counts): &(u16, FieldCounts)| {
        let term = usize::from(*term);
        let body = f64::from(counts[Field::Body as usize]);
        let (count, factor) = match query.terms[term].kind {
            TermKind::Word(_) if counts[Field::Name as usize] > 0 => (body + p::PASSAGE_NAME, 1.0),
            TermKind::Word(_) | TermKind::Identifier { .. } => (body, 1.0),
            TermKind::Pair { .. } => {
                let adjacent = f64::from(counts[Field::Adjacent as usize]);
                (body + p::PAIR_ADJACENT * adjacent, p::PASSAGE_PAIR)
            }
        };
        let weight = factor * statistics.weight(query, term);
        weight * count * (p::PASSAGE_K1 + 1.0) / (count + norm)
    };
    passage.counts.found.iter().map(term).sum()
}
