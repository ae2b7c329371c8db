//! The ranking of files.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;
use lcp_ingest::Commit;
use lcp_ingest::outline::{InputKind, definitions};
use lcp_types::Passage;
use lcp_types::limits::PASSAGES_MAX;
use rayon::prelude::*;

use crate::formula::{PassageCounts, Statistics, passage_words, scale};
use crate::history::{Votes, votes};
use crate::mentions::{Mention, PathIndex};
use crate::parameters as p;
use crate::passages::{sections, to_u32};
use crate::query::Query;
use crate::role::Role;
use crate::scan::{Field, Scanner, TermCounts};

/// A file, or another block with text.
#[derive(Clone, Copy, Debug)]
pub struct Document<'d> {
    /// The path, or another name.
    pub path: &'d str,
    /// The text.
    pub text: &'d str,
    /// The kind of the text.
    pub kind: InputKind,
}

/// A file in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedFile {
    /// The index of the file, in the order in which files were added.
    pub file: usize,
    /// The score, from 0 to 1; the best file has 1.
    pub score: f64,
    /// The reasons for the score, the most important first.
    pub reasons: Vec<String>,
    /// The passages, in the order of their lines. Only the best files have them.
    pub passages: Vec<Passage>,
}

/// The number of files that share a scanner.
const CHUNK: usize = 64;

/// The least difference between the scores of two files.
const SCORE_STEP: f64 = 1e-6;

/// The mean number of bytes of a token.
const BYTES_PER_TOKEN: f64 = 3.9;

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
    passages: BTreeMap<usize, Vec<PassageCounts>>,
}

#[derive(Debug)]
struct File {
    path: String,
    role: Role,
    /// The size of the text.
    bytes: usize,
    counts: TermCounts,
}

/// The scores of all files before passages are known.
struct Signals {
    statistics: Statistics,
    words: Vec<f64>,
    votes: BTreeMap<usize, Votes>,
    mentions: BTreeMap<usize, Mention>,
    /// The files that [`Query::with_mention`] names.
    named: BTreeSet<usize>,
    recent: Vec<f64>,
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
        let scan = |scanner: &Scanner<'_>, document: &Document<'_>| File {
            path: document.path.to_owned(),
            role: Role::new(document.path, document.kind),
            bytes: document.text.len(),
            counts: scanner.scan(document.path, document.text),
        };
        let files = documents.par_chunks(CHUNK).flat_map_iter(|documents| {
            let scanner = Scanner::new(self.query);
            documents.iter().map(move |document| scan(&scanner, document))
        });
        self.files.par_extend(files);
    }

    /// Returns the files that are probably best, whose passages decide further. Adds the definitions
    /// and terms of their passages by [`Self::add_passages`].
    #[must_use]
    pub fn best(&self) -> Vec<usize> {
        let signals = self.signals();
        let scores = self.scores(&signals, &BTreeMap::new());
        let mut best = self.order(&signals, &scores);
        best.truncate(p::PASSAGE_FILES);
        best
    }

    /// Adds the passages of files. Each has its index.
    pub fn add_passages(&mut self, documents: &[(usize, Document<'_>)]) {
        let read = |scanner: &mut Scanner<'_>, (file, document): &(usize, Document<'_>)| {
            (*file, passages(scanner, document))
        };
        let passages = documents.par_iter().map_init(|| Scanner::new(self.query), read);
        self.passages.par_extend(passages);
    }

    /// Returns the files, best first.
    #[must_use]
    pub fn finish(self) -> Vec<RankedFile> {
        let signals = self.signals();
        let own = self.passage_scores(&signals.statistics);
        let scores = self.scores(&signals, &own);
        let mut passages = self.ranked_passages(&signals, &own, &scores);
        let order = self.order(&signals, &scores);
        let best = scores.iter().copied().fold(0.0, f64::max);
        let mut lowest = f64::INFINITY;
        let ranked = order.into_iter().map(|file| {
            let score = if best > 0.0 { scores[file] / best } else { 0.0 };
            // Files that the caller names have the upper half of the scores.
            let score = match signals.named.contains(&file) {
                _ if signals.named.is_empty() => score,
                true => 0.5 + score / 2.0,
                false => score / 2.0,
            };
            // The order decides, so that scores never rise.
            lowest = round(score.min(lowest - SCORE_STEP).max(0.0));
            RankedFile {
                file,
                score: lowest,
                reasons: self.reasons(&signals, file),
                passages: passages.remove(&file).unwrap_or_default(),
            }
        });
        ranked.collect()
    }

    fn signals(&self) -> Signals {
        let statistics = Statistics::new(self.query, self.files.iter().map(|file| &file.counts));
        let mut words: Vec<_> =
            self.files.iter().map(|file| statistics.words(self.query, &file.counts)).collect();
        scale(&mut words);
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let files: HashMap<_, _> = paths.iter().copied().zip(0..).collect();
        let votes = votes(self.query, &self.commits, &files);
        let index = PathIndex::new(paths);
        let mut mentions = index.mentions(&self.query.text);
        let mut named = BTreeSet::new();
        for name in &self.query.named {
            let mut files = index.find(name).1;
            if files.is_empty() {
                files = self.defining_files(name);
            }
            for file in files {
                let mention = mentions.entry(file).or_default();
                (mention.certainty, mention.name) = (1.0, name.clone());
                named.insert(file);
            }
        }
        let recent = self.recent(&files);
        Signals { statistics, words, votes, mentions, named, recent }
    }

    /// Returns the files that define a symbol.
    fn defining_files(&self, symbol: &str) -> Vec<usize> {
        let term = self.query.symbol_term(symbol).and_then(|term| u16::try_from(term).ok());
        let Some(term) = term else { return Vec::new() };
        let defines =
            |(_, file): &(usize, &File)| file.counts.get(term)[Field::Definitions as usize] > 0;
        self.files.iter().enumerate().filter(defines).map(|(at, _)| at).collect()
    }

    /// Returns a value for each file that is higher for recently changed ones.
    fn recent(&self, files: &HashMap<&str, usize>) -> Vec<f64> {
        let mut recent = vec![0.0; self.files.len()];
        let mut place = 0.0;
        for path in self.commits.iter().flat_map(|commit| &commit.files) {
            if let Some(&file) = files.get(path.as_str())
                && recent[file] == 0.0
            {
                recent[file] = 1.0 / (1.0 + place / p::RECENT_FILES);
                place += 1.0;
            }
        }
        recent
    }

    /// Returns the score of each file. `own` has the scores of passages.
    fn scores(&self, signals: &Signals, own: &BTreeMap<usize, Vec<f64>>) -> Vec<f64> {
        let mut best_passages = vec![0.0; self.files.len()];
        for (file, scores) in own {
            best_passages[*file] = scores.iter().copied().fold(0.0, f64::max);
        }
        scale(&mut best_passages);
        let most = signals.votes.values().map(|votes| votes.score).fold(0.0, f64::max);
        let score = |file: usize| {
            let votes = signals.votes.get(&file).map_or(0.0, |votes| votes.score / most);
            let mention = signals.mentions.get(&file).map_or(0.0, |mention| mention.certainty);
            let score = signals.words[file]
                + p::BEST_PASSAGE * best_passages[file]
                + p::VOTES * votes
                + p::MENTION * mention;
            let recent = signals.recent[file];
            let factor = self.files[file].role.factor() * (1.0 + p::RECENT_FACTOR * recent);
            score * factor + p::RECENT * recent
        };
        (0..self.files.len()).map(score).collect()
    }

    /// Returns the score of each passage by its own words, from 0 to 1.
    fn passage_scores(&self, statistics: &Statistics) -> BTreeMap<usize, Vec<f64>> {
        let all = || self.passages.values().flatten();
        let words: u64 =
            all().map(|passage| u64::from(passage.counts.lengths[Field::Body as usize])).sum();
        let mean = (words as f64 / all().count().max(1) as f64).max(1.0);
        let mut most = 0.0;
        let mut scores: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (file, passages) in &self.passages {
            let score = |passage| passage_words(statistics, self.query, passage, mean);
            let own: Vec<_> = passages.iter().map(score).collect();
            most = own.iter().copied().fold(most, f64::max);
            scores.insert(*file, own);
        }
        for score in scores.values_mut().flatten().filter(|_| most > 0.0) {
            *score /= most;
        }
        scores
    }

    /// Returns the passages of each file with their scores from 1 to 1000, which are comparable
    /// between files.
    fn ranked_passages(
        &self,
        signals: &Signals,
        own: &BTreeMap<usize, Vec<f64>>,
        scores: &[f64],
    ) -> BTreeMap<usize, Vec<Passage>> {
        let best = scores.iter().copied().fold(0.0, f64::max);
        let mut all = Vec::new();
        for (file, passages) in &self.passages {
            let of_file = if best > 0.0 { scores[*file].max(0.0) / best } else { 0.0 };
            let lines = signals.mentions.get(file).map_or(&[][..], |mention| &mention.lines);
            for (at, passage) in passages.iter().enumerate() {
                let words = f64::from(passage.counts.lengths[Field::Body as usize]).max(10.0);
                let is_named = lines
                    .iter()
                    .any(|line| (passage.first_line..=passage.last_line).contains(line));
                let own = own[file][at] + if is_named { 1.0 } else { 0.0 };
                let score = of_file * (p::PASSAGE_FLOOR + own) / libm::pow(words, p::PASSAGE_SIZE);
                all.push((score, *file, passage));
            }
        }
        all.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then_with(|| {
                self.files[a.1]
                    .path
                    .cmp(&self.files[b.1].path)
                    .then(a.2.first_line.cmp(&b.2.first_line))
            })
        });
        let count = all.len().max(1);
        let mut ranked: BTreeMap<usize, Vec<Passage>> = BTreeMap::new();
        for (place, (_, file, passage)) in all.into_iter().enumerate() {
            let score = 1 + (count - 1 - place) * 999 / count;
            let score = u16::try_from(score).unwrap_or(Passage::SCORE_MAX);
            let (first, last) = (to_u32(passage.first_line), to_u32(passage.last_line));
            ranked.entry(file).or_default().push(Passage { first, last, score });
        }
        for (file, passages) in &mut ranked {
            if signals.named.contains(file)
                && let Some(best) = passages.iter_mut().max_by_key(|passage| passage.score)
            {
                best.score = Passage::SCORE_MAX;
            }
            passages.sort_by_key(|passage| passage.first);
        }
        ranked
    }

    /// Returns all files: first those that the caller names, then the best; equal ones by path.
    fn order(&self, signals: &Signals, scores: &[f64]) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.files.len()).collect();
        let is_named = |file: &usize| signals.named.contains(file);
        let by_path = |a: &usize, b: &usize| self.files[*a].path.cmp(&self.files[*b].path);
        order.sort_by(|a, b| {
            let by_score = || scores[*b].total_cmp(&scores[*a]);
            is_named(b).cmp(&is_named(a)).then_with(by_score).then_with(|| by_path(a, b))
        });
        let named = signals.named.len();
        let first = named.max(p::ORDER_FIXED).min(order.len());
        let ten = first.max(p::ORDER_FIRST).min(order.len());
        let value = |file: usize, power| {
            let tokens = self.files[file].bytes as f64 / BYTES_PER_TOKEN;
            scores[file].max(0.0) / libm::pow(tokens + p::ORDER_TOKENS, power)
        };
        for (part, power) in
            [(first..ten, p::ORDER_FIRST_POWER), (ten..order.len(), p::ORDER_POWER)]
        {
            order[part].sort_by(|a, b| {
                value(*b, power).total_cmp(&value(*a, power)).then_with(|| by_path(a, b))
            });
        }
        order
    }

    /// Returns the reasons for the score of a file.
    fn reasons(&self, signals: &Signals, file: usize) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(mention) = signals.mentions.get(&file) {
            reasons.push(format!("named in the question: {}", mention.name));
        }
        let counts = &self.files[file].counts;
        let mut terms: Vec<_> = counts
            .found
            .iter()
            .map(|(term, fields)| {
                (
                    signals.statistics.word(self.query, usize::from(*term), fields, counts),
                    *term,
                    fields,
                )
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
        let best = signals.votes.get(&file).and_then(|votes| votes.best);
        if let Some((commit, _)) = best {
            let commit = &self.commits[commit];
            let subject = commit.message.lines().next().unwrap_or_default();
            let hash = commit.hash.get(..7).unwrap_or(&commit.hash);
            reasons.push(format!("changed by {hash}, {subject:?}"));
        }
        reasons
    }
}

/// Divides a document into passages and counts their terms. The name of a definition is the field
/// [`Field::Name`].
fn passages(scanner: &Scanner<'_>, document: &Document<'_>) -> Vec<PassageCounts> {
    let definitions = definitions(document.kind, document.text);
    let sections = sections(document.text, &definitions);
    let mut starts: Vec<_> = vec![0];
    starts.extend(document.text.match_indices('\n').map(|(at, _)| at + 1));
    starts.push(document.text.len());
    let passage = |section: crate::passages::Section| {
        let (first, last) = (*section.lines.start(), *section.lines.end());
        let start = starts[first - 1];
        let end = starts.get(last).copied().unwrap_or(document.text.len());
        PassageCounts {
            first_line: first,
            last_line: last,
            counts: scanner.scan(&section.name, &document.text[start..end]),
        }
    };
    sections.into_iter().take(PASSAGES_MAX).map(passage).collect()
}

/// Rounds a score, so that texts of scores have few digits.
fn round(score: f64) -> f64 {
    (score * 1e6).round() / 1e6
}
