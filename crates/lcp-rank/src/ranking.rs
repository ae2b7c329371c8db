//! The ranking of files.

use std::collections::BTreeMap;

use lcp_ingest::Commit;
use rayon::prelude::*;

use crate::document::{Document, File, RankedFile};
use crate::mentions::{Mentions, PathIndex};
use crate::parameters as p;
use crate::passage_scores::PassageSignals;
use crate::passages::{BYTES_PER_TOKEN, FilePassages};
use crate::query::Query;
use crate::role::Role;
use crate::scan::{Field, Scanner};
use crate::signals::Signals;

/// The number of files that share a scanner.
const CHUNK: usize = 64;

/// The difference between two scores of the formula that divides the score of a file by e.
const SCORE_SPREAD: f64 = 4.0;

/// The least difference between the scores of two files.
const SCORE_STEP: f64 = 1e-6;

/// Ranks files for a question.
///
/// 1. [`Ranker::add`] counts the terms of the question in all files.
/// 2. [`Ranker::best`] returns the files whose passages should be read.
/// 3. [`Ranker::add_passages`] reads them.
/// 4. [`Ranker::finish`] returns the ranking.
#[derive(Debug)]
pub struct Ranker<'q> {
    query: &'q Query,
    files: Vec<File>,
    commits: Vec<Commit>,
    passages: BTreeMap<usize, FilePassages>,
}

impl<'q> Ranker<'q> {
    /// Creates a ranker for a question.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Self { query, files: Vec::new(), commits: Vec::new(), passages: BTreeMap::new() }
    }

    /// Sets the past commits, newest first. Call it before [`Self::best`].
    pub fn set_commits(&mut self, commits: Vec<Commit>) {
        self.commits = commits;
    }

    /// Adds files.
    pub fn add(&mut self, documents: &[Document<'_>]) {
        let files = documents.par_chunks(CHUNK).flat_map_iter(|documents| {
            let scanner = Scanner::new(self.query);
            documents.iter().map(move |document| File::new(&scanner, document))
        });
        self.files.par_extend(files);
    }

    /// Returns the files that are probably best. Add their passages by [`Self::add_passages`].
    #[must_use]
    pub fn best(&self) -> Vec<usize> {
        let signals = self.signals();
        let scores = signals.scores(&self.roles(), &PassageSignals::default());
        let mut best = self.by_score(&signals, &scores);
        best.truncate(p::PASSAGE_FILES.max(signals.mentions.named.len()));
        best
    }

    /// Adds the passages of files. Each has its index.
    pub fn add_passages(&mut self, documents: &[(usize, Document<'_>)]) {
        let read = |scanner: &mut Scanner<'_>, (file, document): &(usize, Document<'_>)| {
            (*file, FilePassages::new(scanner, document))
        };
        let passages = documents.par_iter().map_init(|| Scanner::new(self.query), read);
        self.passages.par_extend(passages);
    }

    /// Returns the files, best first.
    #[must_use]
    pub fn finish(self) -> Vec<RankedFile> {
        let signals = self.signals();
        let roles = self.roles();
        let of_passages = PassageSignals::new(self.query, &signals.statistics, &self.passages);
        let scores = signals.scores(&roles, &of_passages);
        let mut passages = of_passages.ranked(&signals.mentions, &self.passages, &scores, &roles);
        let order = self.order(&signals, &scores);
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut lowest = f64::INFINITY;
        let ranked = order.into_iter().map(|file| {
            let score = libm::exp((scores[file] - best) / SCORE_SPREAD);
            // Files that the caller names have the upper half of the scores.
            let is_named = signals.mentions.named.contains(&file);
            let score = match is_named {
                _ if signals.mentions.named.is_empty() => score,
                true => 0.5 + score / 2.0,
                false => score / 2.0,
            };
            // The order decides, so that scores never rise.
            lowest = round(score.min(lowest - SCORE_STEP).max(0.0));
            RankedFile {
                file,
                score: lowest,
                is_named,
                reasons: self.reasons(&signals, file),
                passages: passages.remove(&file).unwrap_or_default(),
            }
        });
        ranked.collect()
    }

    fn roles(&self) -> Vec<Role> {
        self.files.iter().map(|file| file.role).collect()
    }

    fn signals(&self) -> Signals {
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let index = PathIndex::new(paths);
        let mut mentions = Mentions::new(&index, &self.query.text);
        for name in &self.query.named {
            let mut files = index.find(name).1;
            if files.is_empty() {
                files = self.defining_files(name);
            }
            mentions.name(name, &files);
        }
        Signals::new(self.query, &self.files, &self.commits, mentions)
    }

    /// Returns the files that define a symbol.
    fn defining_files(&self, symbol: &str) -> Vec<usize> {
        let term = self.query.symbol_term(symbol).and_then(|term| u16::try_from(term).ok());
        let Some(term) = term else { return Vec::new() };
        let defines =
            |(_, file): &(usize, &File)| file.counts.get(term)[Field::Definitions as usize] > 0;
        self.files.iter().enumerate().filter(defines).map(|(at, _)| at).collect()
    }

    /// Returns all files: first those that the caller names, then by score; equal ones by path.
    fn by_score(&self, signals: &Signals, scores: &[f64]) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.files.len()).collect();
        let is_named = |file: &usize| signals.mentions.named.contains(file);
        order.sort_by(|a, b| {
            let by_score = || scores[*b].total_cmp(&scores[*a]);
            let by_path = || self.files[*a].path.cmp(&self.files[*b].path);
            is_named(b).cmp(&is_named(a)).then_with(by_score).then_with(by_path)
        });
        order
    }

    /// Returns all files, best first. Of files with nearly equal scores, smaller ones come first.
    fn order(&self, signals: &Signals, scores: &[f64]) -> Vec<usize> {
        let mut order = self.by_score(signals, scores);
        let first = signals.mentions.named.len().max(p::ORDER_FIXED).min(order.len());
        let ten = p::ORDER_FIRST.clamp(first, order.len());
        let deep = p::ORDER_DEEP.clamp(ten, order.len());
        let value = |file: usize, relief: f64| {
            let of = &self.files[file];
            let tokens = of.bytes as f64 / BYTES_PER_TOKEN;
            let relief = if of.role == Role::Test { relief } else { 0.0 };
            scores[file] + relief - p::ORDER_SIZE * libm::log(tokens + p::ORDER_TOKENS)
        };
        let parts = [(first..ten, 0.0), (ten..deep, 0.0), (deep..order.len(), p::DEEP_TEST)];
        for (part, relief) in parts {
            order[part].sort_by(|a, b| {
                let by_path = || self.files[*a].path.cmp(&self.files[*b].path);
                value(*b, relief).total_cmp(&value(*a, relief)).then_with(by_path)
            });
        }
        order
    }

    /// Returns the reasons for the score of a file.
    fn reasons(&self, signals: &Signals, file: usize) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(mention) = signals.mentions.by_file.get(&file) {
            reasons.push(format!("named in the question: {}", mention.name));
        }
        let counts = &self.files[file].counts;
        let mut terms: Vec<_> = counts
            .found
            .iter()
            .map(|(term, fields)| {
                (signals.statistics.contribution(self.query, *term, fields, counts), *term, fields)
            })
            .collect();
        terms.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (score, term, fields) in terms.into_iter().take(3) {
            let shown = &self.query.terms[usize::from(term)].shown;
            let [folders, name, definitions, body, adjacent] = *fields;
            let place = match (name + folders, definitions, body + adjacent) {
                (1.., ..) => "in its path".to_owned(),
                (_, 1, _) => "in a definition".to_owned(),
                (_, 2.., _) => format!("in {definitions} definitions"),
                (_, _, 1) => "once".to_owned(),
                (_, _, times) => format!("{times} times"),
            };
            if score > 0.0 {
                reasons.push(format!("{shown:?} {place}"));
            }
        }
        if let Some((commit, _)) = signals.history.best.get(&file) {
            let commit = &self.commits[*commit];
            let subject = commit.message.lines().next().unwrap_or_default();
            let hash = commit.hash.get(..7).unwrap_or(&commit.hash);
            reasons.push(format!("changed by {hash}, {subject:?}"));
        }
        reasons
    }
}

/// Rounds a score, so that texts of scores have few digits.
fn round(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
