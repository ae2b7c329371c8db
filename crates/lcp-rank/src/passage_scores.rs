//! The scores of passages, and the order in which a budget shows them.

use std::collections::BTreeMap;

use lcp_types::Passage;

use crate::formula::{PassageScores, Statistics, scale};
use crate::mentions::Mentions;
use crate::parameters as p;
use crate::passages::{FilePassages, to_u32};
use crate::query::Query;
use crate::role::Role;
use crate::scan::Field;

/// The signals that passages give to their files, from 0 to 1.
#[derive(Debug, Default)]
pub(crate) struct PassageSignals {
    /// The words of the best passage.
    pub(crate) best: BTreeMap<usize, f64>,
    /// The best bigrams of words.
    pub(crate) bigrams: BTreeMap<usize, f64>,
    /// The scores of all passages, in the order of their files.
    scores: Vec<PassageScores>,
}

impl PassageSignals {
    pub(crate) fn new(
        query: &Query,
        statistics: &Statistics,
        files: &BTreeMap<usize, FilePassages>,
    ) -> Self {
        let all = || files.values().flat_map(|file| &file.passages);
        let words: u64 =
            all().map(|passage| u64::from(passage.counts.lengths[Field::Body as usize])).sum();
        let mean = (words as f64 / all().count().max(1) as f64).max(1.0);
        let scores: Vec<_> =
            all().map(|passage| statistics.passage(query, &passage.counts, mean)).collect();
        let best_of = |least: f64, get: fn(&PassageScores) -> f64| {
            let mut scores = scores.iter();
            let best = files
                .values()
                .map(|file| scores.by_ref().take(file.passages.len()).map(get).fold(0.0, f64::max));
            scaled(files, best.collect(), least)
        };
        let unit = statistics.scale;
        Self {
            best: best_of(0.0, |it| it.words),
            bigrams: best_of(p::BIGRAMS_CAP * unit, |it| it.bigrams),
            scores,
        }
    }

    /// Returns the passages of each file with their scores from 1 to 1000, which are comparable
    /// between files.
    pub(crate) fn ranked(
        &self,
        mentions: &Mentions,
        files: &BTreeMap<usize, FilePassages>,
        scores: &[f64],
        roles: &[Role],
    ) -> BTreeMap<usize, Vec<Passage>> {
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let column = |get: fn(&PassageScores) -> f64| {
            let mut column: Vec<_> = self.scores.iter().map(get).collect();
            scale(&mut column, 0.0);
            column
        };
        let (words, bigrams) = (column(|it| it.words), column(|it| it.bigrams));
        let names = column(|it| it.name);
        let mut order = Vec::new();
        let mut at = 0;
        for (&file, of_file) in files {
            let best = words[at..at + of_file.passages.len()].iter().copied().fold(0.0, f64::max);
            let lines = mentions.by_file.get(&file).map_or(&[][..], |mention| &mention.lines);
            for (place, passage) in of_file.passages.iter().enumerate() {
                let of_best = if best > 0.0 { words[at] / best } else { 0.0 };
                let is_head = place == 0 && passage.is_unnamed;
                let shown = passage.first_line..=passage.last_line;
                let is_named = lines.iter().any(|line| shown.contains(line));
                let flag = |holds: bool| if holds { 1.0 } else { 0.0 };
                let value = p::ORDER_FILE * (scores[file] - top)
                    + p::ORDER_WORDS * words[at]
                    + p::ORDER_WORDS_OF_FILE * of_best
                    + p::ORDER_BIGRAMS * bigrams[at]
                    + p::ORDER_NAME * names[at]
                    + p::ORDER_HEAD * flag(is_head)
                    + p::ORDER_PASSAGES * libm::log(of_file.passages.len() as f64)
                    + p::ORDER_PASSAGE_TOKENS * libm::log(passage.tokens.max(5.0))
                    + p::ORDER_TEST * flag(roles[file] == Role::Test)
                    + p::ORDER_NAMED_LINE * flag(is_named);
                order.push((value, file, passage));
                at += 1;
            }
        }
        // The order of equal values is that of the files, which do not depend on their index.
        order.sort_by(|a, b| {
            let by_file = || files[&a.1].path.cmp(&files[&b.1].path);
            b.0.total_cmp(&a.0).then_with(by_file).then(a.2.first_line.cmp(&b.2.first_line))
        });
        let count = order.len().max(1);
        let mut ranked: BTreeMap<usize, Vec<Passage>> = BTreeMap::new();
        for (place, (_, file, passage)) in order.into_iter().enumerate() {
            let score = 1 + (count - 1 - place) * 999 / count;
            let score = u16::try_from(score).unwrap_or(Passage::SCORE_MAX);
            let (first, last) = (to_u32(passage.first_line), to_u32(passage.last_line));
            let passages = ranked.entry(file).or_default();
            // The best passage of a file that the caller names comes first.
            let is_certain = passages.is_empty() && mentions.named.contains(&file);
            let score = if is_certain { Passage::SCORE_MAX } else { score };
            passages.push(Passage { first, last, score });
        }
        for passages in ranked.values_mut() {
            passages.sort_by_key(|passage| passage.first);
        }
        ranked
    }
}

/// Returns scaled values by file.
fn scaled(
    files: &BTreeMap<usize, FilePassages>,
    mut values: Vec<f64>,
    least: f64,
) -> BTreeMap<usize, f64> {
    scale(&mut values, least);
    files.keys().copied().zip(values).collect()
}
