//! The score of a text by its words, identifiers and bigrams of words.

use crate::parameters as p;
use crate::query::{Query, Term, TermKind};
use crate::scan::{FIELDS, Field, FieldCounts, TermCounts};

/// The statistics of all files that scores depend on.
#[derive(Debug)]
pub(crate) struct Statistics {
    idfs: Vec<TermIdf>,
    /// The mean length of each field, of the files that have it.
    means: [f64; FIELDS],
    /// ln(1 + number of files), the unit of the caps (L in RFC 0014 §4).
    pub(crate) scale: f64,
}

/// The IDF of a term in each field; 0 if it occurs nowhere, or does not count.
#[derive(Clone, Copy, Debug, Default)]
struct TermIdf {
    /// In any field.
    any: f64,
    body: f64,
    definitions: f64,
    /// As an identifier of one word.
    single: f64,
}

/// The parts of the score of a file by its words.
#[derive(Clone, Copy, Default)]
pub(crate) struct WordScores {
    /// Words.
    pub(crate) words: f64,
    /// Identifiers of several words.
    pub(crate) identifiers: f64,
    /// Identifiers of one word.
    pub(crate) single: f64,
    pub(crate) definitions: f64,
    pub(crate) path: f64,
}

impl Statistics {
    pub(crate) fn new<'c>(
        query: &Query,
        files: impl ExactSizeIterator<Item = &'c TermCounts>,
    ) -> Self {
        let mut with_term = vec![[0_u32; 4]; query.terms.len()];
        let mut lengths = [(0_u64, 0_u64); FIELDS];
        let count = files.len();
        for file in files {
            for (term, counts) in &file.found {
                let is_in = |field: Field| u32::from(counts[field as usize] > 0);
                let is_bigram =
                    matches!(query.terms[usize::from(*term)].kind, TermKind::Bigram { .. });
                let adjacent = is_in(Field::Adjacent);
                let with = &mut with_term[usize::from(*term)];
                with[0] += if is_bigram { is_in(Field::Body).max(adjacent) } else { 1 };
                with[1] += is_in(Field::Body);
                with[2] += is_in(Field::Definitions);
                with[3] += adjacent;
            }
            for (sum, length) in lengths.iter_mut().zip(file.lengths) {
                sum.0 += u64::from(length);
                sum.1 += u64::from(length > 0);
            }
        }
        let idfs = with_term.iter().map(|[any, body, definitions, single]| TermIdf {
            any: idf(count, *any),
            body: idf(count, *body),
            definitions: idf(count, *definitions),
            single: idf(count, *single),
        });
        let mut idfs: Vec<_> = idfs.collect();
        drop_light_terms(query, &mut idfs);
        let mean = |(sum, files): (u64, u64)| {
            if files == 0 { 1.0 } else { sum as f64 / files as f64 }
        };
        Self { idfs, means: lengths.map(mean), scale: libm::log1p(count as f64) }
    }

    /// Returns the scores of a file by its words.
    pub(crate) fn words(&self, query: &Query, file: &TermCounts) -> WordScores {
        let mut scores = WordScores::default();
        let mut in_path = 0.0;
        for (at, counts) in &file.found {
            let term = &query.terms[usize::from(*at)];
            let idf = self.idfs[usize::from(*at)];
            let count = |field: Field| f64::from(counts[field as usize]);
            let weight = term.weight.sqrt();
            match term.kind {
                TermKind::Word(_) => {
                    let saturated = saturate(self.mixed(counts, file), p::FIELD_K1, p::FIELD_K1);
                    scores.words += weight * idf.any * saturated;
                    if count(Field::Definitions) > 0.0 {
                        scores.definitions += weight * idf.definitions;
                    }
                    if count(Field::Folders) + count(Field::Name) > 0.0 {
                        in_path += 1.0;
                    }
                }
                TermKind::Identifier { .. } => {
                    let definitions = p::IDENTIFIER_DEFINITIONS * count(Field::Definitions);
                    let mixed = count(Field::Body) + definitions;
                    let saturated = saturate(mixed, p::FIELD_K1, p::FIELD_K1);
                    scores.identifiers += weight * idf.body * saturated;
                    let single = count(Field::Adjacent) / self.norm(Field::Body, file);
                    scores.single += weight * idf.single * saturate(single, p::K1, p::K1);
                }
                TermKind::Bigram { .. } => {}
            }
        }
        let words = file.lengths[Field::Folders as usize] + file.lengths[Field::Name as usize];
        scores.path = in_path / f64::from(words).max(p::PATH_WORDS_MIN);
        scores
    }

    /// Returns the weight of a term among the reasons for the score of a file.
    pub(crate) fn reason_weight(
        &self,
        query: &Query,
        at: u16,
        counts: &FieldCounts,
        file: &TermCounts,
    ) -> f64 {
        let term = &query.terms[usize::from(at)];
        let weight = term.weight.sqrt() * self.idfs[usize::from(at)].any;
        match term.kind {
            TermKind::Bigram { .. } => 0.0,
            _ => weight * saturate(self.mixed(counts, file), p::FIELD_K1, p::FIELD_K1),
        }
    }

    /// Returns the occurrences of a term in all fields, with their weights.
    fn mixed(&self, counts: &FieldCounts, file: &TermCounts) -> f64 {
        let fields = [Field::Folders, Field::Name, Field::Definitions, Field::Body];
        let field = |field: Field| {
            let at = field as usize;
            p::FIELD_WEIGHTS[at] * f64::from(counts[at]) / self.norm(field, file)
        };
        fields.into_iter().map(field).sum()
    }

    /// Returns the divisor for the length of a field.
    fn norm(&self, field: Field, file: &TermCounts) -> f64 {
        let at = field as usize;
        let length = f64::from(file.lengths[at]) / self.means[at];
        (1.0 - p::FIELD_B[at] + p::FIELD_B[at] * length).max(0.05)
    }

    /// Returns the scores of a passage. `mean` is the mean number of words of passages. The name of
    /// its definition is the field [`Field::Name`].
    pub(crate) fn passage(&self, query: &Query, passage: &TermCounts, mean: f64) -> PassageScores {
        let length = f64::from(passage.lengths[Field::Body as usize]);
        let norm = p::K1 * (1.0 - p::PASSAGE_B + p::PASSAGE_B * length / mean);
        let mut scores = PassageScores::default();
        for (at, counts) in &passage.found {
            let term = &query.terms[usize::from(*at)];
            let idf = self.idfs[usize::from(*at)];
            let weight = term.weight.sqrt();
            let body = f64::from(counts[Field::Body as usize]);
            let is_in_name = counts[Field::Name as usize] > 0;
            match term.kind {
                TermKind::Word(_) => {
                    let by_name = if is_in_name && body > 0.0 { p::PASSAGE_NAME } else { 0.0 };
                    scores.words += weight * idf.body * saturate(body + by_name, p::K1, norm);
                    if is_in_name {
                        scores.name += weight * idf.definitions;
                    }
                }
                TermKind::Identifier { .. } => {
                    scores.words += weight * idf.body * saturate(body, p::K1, norm);
                }
                TermKind::Bigram { .. } => {
                    let adjacent = f64::from(counts[Field::Adjacent as usize]);
                    let count = (body + p::BIGRAM_ADJACENT * adjacent).min(1.0);
                    scores.bigrams += weight * idf.any * count;
                }
            }
        }
        scores
    }
}

/// The scores of a passage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassageScores {
    pub(crate) words: f64,
    pub(crate) bigrams: f64,
    pub(crate) name: f64,
}

/// Returns the IDF of a term: its weight by the number of texts that have it; 0 if none has it.
pub(crate) fn idf(texts: usize, with_term: u32) -> f64 {
    if with_term == 0 {
        return 0.0;
    }
    let (texts, with_term) = (texts as f64, f64::from(with_term));
    libm::log1p((texts - with_term + 0.5) / (with_term + 0.5))
}

/// Returns the effect of a number of occurrences, which grows ever more slowly.
fn saturate(count: f64, k1: f64, norm: f64) -> f64 {
    count * (k1 + 1.0) / (count + norm)
}

/// Sets the IDF of all but the first words and identifiers to 0, by weight × IDF.
fn drop_light_terms(query: &Query, idfs: &mut [TermIdf]) {
    let value = |at: &usize| {
        let term: &Term = &query.terms[*at];
        term.weight * idfs[*at].any
    };
    let is_bigram = |at: &usize| matches!(query.terms[*at].kind, TermKind::Bigram { .. });
    let mut order: Vec<_> = (0..query.terms.len()).filter(|at| !is_bigram(at)).collect();
    order.sort_by(|a, b| value(b).total_cmp(&value(a)));
    for light in order.into_iter().skip(p::TERMS) {
        idfs[light] = TermIdf::default();
    }
}

/// Divides all numbers by the largest one, or by `least` if that is larger.
pub(crate) fn scale(numbers: &mut [f64], least: f64) {
    let largest = numbers.iter().copied().fold(least, f64::max);
    if largest > 0.0 {
        for number in numbers {
            *number /= largest;
        }
    }
}
