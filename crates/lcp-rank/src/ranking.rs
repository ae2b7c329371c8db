//! The ranking of files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use lcp_ingest::Commit;
use rayon::prelude::*;

use crate::document::{Document, File, RankedFile};
use crate::index::{self, PART_TEXTS, Part, TextHash, WordIndex};
use crate::mentions::{Mentions, PathIndex};
use crate::parameters as p;
use crate::passage_scores::PassageSignals;
use crate::passages::{BYTES_PER_TOKEN, FilePassages, index_passages};
use crate::query::Query;
use crate::role::Role;
use crate::scan::{DictionaryTerms, Field, Scanner};
use crate::signals::Signals;
use crate::text_index::TextIndexer;

/// The number of texts whose passages share a dictionary.
const PASSAGES_TEXTS: usize = 8;

/// The maximum size of texts whose words are kept for the next ranking, in bytes.
const INDEXED_BYTES_MAX: usize = 64 << 20;

/// The scale of scores: a file this far below the best one has the score 1/e.
const SCORE_SPREAD: f64 = 4.0;

/// The least difference between the scores of two files.
const SCORE_STEP: f64 = 1e-6;

/// A ranking of files for a question, in steps.
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
    /// The files that the user is changing.
    changing: BTreeSet<usize>,
    passages: BTreeMap<usize, FilePassages>,
    /// The files whose passages are functions and types. Those of others are runs of lines.
    parsed: BTreeSet<usize>,
    cache: Option<IndexCache>,
    signals: OnceLock<Signals>,
}

/// The index of texts that were ranked before, and of those that are ranked now.
#[derive(Debug)]
struct IndexCache {
    index: WordIndex,
    /// The terms of the question in the dictionaries of the index.
    terms: Vec<DictionaryTerms>,
    /// The hashes of the files.
    hashes: Vec<TextHash>,
    /// The total size of the texts.
    bytes: usize,
    is_changed: bool,
}

/// The words of a group of documents.
struct Group {
    files: Vec<File>,
    hashes: Vec<TextHash>,
    /// The texts that the index did not have.
    part: Option<Part>,
}

impl<'q> Ranker<'q> {
    /// Creates a ranker for a question.
    #[must_use]
    pub fn new(query: &'q Query) -> Self {
        Self {
            query,
            files: Vec::new(),
            commits: Vec::new(),
            changing: BTreeSet::new(),
            passages: BTreeMap::new(),
            parsed: BTreeSet::new(),
            cache: None,
            signals: OnceLock::new(),
        }
    }

    /// Uses the index of an earlier ranking, which may be empty. [`Self::into_index`] returns the
    /// next one. The ranks are the same without it.
    #[must_use]
    pub fn with_index(mut self, index: WordIndex) -> Self {
        let terms = index
            .parts
            .par_iter()
            .map_init(|| Scanner::new(self.query), |scanner, part| part.terms(scanner));
        let terms = terms.collect();
        let hashes = Vec::new();
        self.cache = Some(IndexCache { index, terms, hashes, bytes: 0, is_changed: false });
        self
    }

    /// Sets the past commits, newest first. Call it before [`Self::best`].
    pub fn set_commits(&mut self, commits: Vec<Commit>) {
        self.commits = commits;
    }

    /// Sets the files that the user is changing, by their indices. They are as certain as mentions.
    pub fn set_changing(&mut self, files: impl IntoIterator<Item = usize>) {
        self.changing = files.into_iter().collect();
    }

    /// Adds files.
    pub fn add(&mut self, documents: &[Document<'_>]) {
        self.signals.take();
        let bytes: usize = documents.iter().map(|document| document.text.len()).sum();
        if let Some(cache) = &mut self.cache {
            cache.bytes += bytes;
        }
        self.cache = self.cache.take().filter(|cache| cache.bytes <= INDEXED_BYTES_MAX);
        let groups: Vec<_> =
            documents.par_chunks(PART_TEXTS).map(|documents| self.group(documents)).collect();
        for group in groups {
            self.files.extend(group.files);
            if let Some(cache) = &mut self.cache {
                cache.hashes.extend(group.hashes);
                if let Some(part) = group.part {
                    cache.index.push(part);
                    cache.is_changed = true;
                }
            }
        }
    }

    fn group(&self, documents: &[Document<'_>]) -> Group {
        let scanner = Scanner::new(self.query);
        let hashes = match self.cache {
            Some(_) => documents.iter().map(index::hash).collect(),
            None => Vec::new(),
        };
        let mut counts = vec![None; documents.len()];
        if let Some(cache) = &self.cache {
            for ((document, hash), counts) in documents.iter().zip(&hashes).zip(&mut counts) {
                let known = cache
                    .index
                    .text(hash)
                    .and_then(|(part, text)| Some((cache.terms.get(part)?, text)));
                *counts = known.map(|(terms, text)| scanner.scan(document.path, text, terms));
            }
        }
        let (mut indexer, mut terms) = (TextIndexer::default(), DictionaryTerms::default());
        let unknown: Vec<_> = (0..documents.len()).filter(|at| counts[*at].is_none()).collect();
        let index = |at: &usize| {
            indexer.index(documents[*at].text, |it| self.add_identifier(it, &scanner, &mut terms))
        };
        let texts: Vec<_> = unknown.iter().map(index).collect();
        for (at, text) in unknown.iter().zip(&texts) {
            counts[*at] = Some(scanner.scan(documents[*at].path, text, &terms));
        }
        let counts = counts.into_iter().map(Option::unwrap_or_default);
        let files =
            documents.iter().zip(counts).map(|(document, counts)| File::new(document, counts));
        let files = files.collect();
        let part = (!hashes.is_empty() && !unknown.is_empty()).then(|| {
            let texts = unknown.iter().map(|at| hashes[*at]).zip(texts);
            Part::new(&indexer, texts.collect(), Vec::new())
        });
        Group { files, hashes, part }
    }

    /// Adds the terms of an identifier to `terms`. Returns whether a text index counts the identifier. With
    /// a cache, every identifier counts, because later questions use the same index.
    fn add_identifier(
        &self,
        identifier: &str,
        scanner: &Scanner<'_>,
        terms: &mut DictionaryTerms,
    ) -> bool {
        let has_terms = terms.add(scanner, identifier);
        has_terms || self.cache.is_some()
    }

    /// Returns the files that are probably best and whose passages are not known. Add their passages
    /// by [`Self::add_passages`].
    #[must_use]
    pub fn best(&mut self) -> Vec<usize> {
        let signals = self.signals();
        let scores = signals.scores(&self.roles(), &PassageSignals::default());
        let mut best = self.by_score(signals, &scores);
        let named = signals.mentions.named.len();
        best.truncate(p::PASSAGE_FILES.max(named));
        let parsed = p::PARSED_FILES.max(named).min(p::PASSAGE_FILES);
        self.parsed = best.iter().copied().take(parsed).collect();
        if let Some(cache) = &self.cache {
            let known = best.par_iter().map_init(
                || Scanner::new(self.query),
                |scanner, file| {
                    let (part, passages) = cache.index.passages(&self.passages_hash(*file)?)?;
                    let terms = cache.terms.get(part)?;
                    let path = &self.files[*file].path;
                    Some((*file, FilePassages::new(scanner, path, passages, terms)))
                },
            );
            self.passages = known.flatten().collect();
        }
        best.retain(|file| !self.passages.contains_key(file));
        best
    }

    /// Adds the passages of files. Each has its index.
    pub fn add_passages(&mut self, documents: &[(usize, Document<'_>)]) {
        let groups = documents.par_chunks(PASSAGES_TEXTS).map(|documents| {
            let scanner = Scanner::new(self.query);
            let (mut indexer, mut terms) = (TextIndexer::default(), DictionaryTerms::default());
            let passages: Vec<_> = documents
                .iter()
                .map(|(file, document)| {
                    let index = |text| {
                        indexer.index(text, |it| self.add_identifier(it, &scanner, &mut terms))
                    };
                    (*file, index_passages(document, self.parsed.contains(file), index))
                })
                .collect();
            let counts = passages.iter().map(|(file, passages)| {
                (*file, FilePassages::new(&scanner, &self.files[*file].path, passages, &terms))
            });
            let counts: Vec<_> = counts.collect();
            let part = self.cache.is_some().then(|| {
                let hash = |(file, passages)| Some((self.passages_hash(file)?, passages));
                Part::new(&indexer, Vec::new(), passages.into_iter().filter_map(hash).collect())
            });
            (counts, part)
        });
        let groups: Vec<_> = groups.collect();
        for (counts, part) in groups {
            self.passages.extend(counts);
            if let Some((cache, part)) = self.cache.as_mut().zip(part) {
                cache.index.push(part);
                cache.is_changed = true;
            }
        }
    }

    /// Returns the hash of the passages of a file.
    fn passages_hash(&self, file: usize) -> Option<TextHash> {
        let hash = self.cache.as_ref()?.hashes[file];
        Some(index::passages_hash(&hash, self.parsed.contains(&file)))
    }

    /// Returns the bytes of the index for the next ranking, if it has changed.
    #[must_use]
    pub fn into_index(self) -> Option<Vec<u8>> {
        let cache = self.cache.filter(|cache| cache.is_changed)?;
        Some(cache.index.into_bytes(&cache.hashes.into_iter().collect()))
    }

    /// Returns the files, best first.
    #[must_use]
    pub fn finish(&self) -> Vec<RankedFile> {
        let signals = self.signals();
        let roles = self.roles();
        let of_passages = PassageSignals::new(self.query, &signals.statistics, &self.passages);
        let scores = signals.scores(&roles, &of_passages);
        let mut passages = of_passages.ranked(&signals.mentions, &self.passages, &scores, &roles);
        let order = self.order(signals, &scores);
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
                reasons: self.reasons(signals, file),
                passages: passages.remove(&file).unwrap_or_default(),
            }
        });
        ranked.collect()
    }

    fn roles(&self) -> Vec<Role> {
        self.files.iter().map(|file| file.role).collect()
    }

    /// Returns the signals of all files, which do not depend on passages.
    fn signals(&self) -> &Signals {
        self.signals.get_or_init(|| self.compute_signals())
    }

    fn compute_signals(&self) -> Signals {
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let index = PathIndex::new(paths);
        let mut mentions = Mentions::new(&index, &self.query.text);
        for name in &self.query.named {
            mentions.name(name, &self.named_files(name, &index));
        }
        for file in &self.changing {
            mentions.name(&self.files[*file].path, &[*file]);
        }
        Signals::new(self.query, &self.files, &self.commits, mentions)
    }

    /// Returns the files that a mention means: that of a path, or those that define a symbol.
    fn named_files(&self, name: &str, index: &PathIndex<'_>) -> Vec<usize> {
        let mut files = index.exact(name).into_iter().collect::<Vec<_>>();
        if files.is_empty() {
            files = index.find(name).1;
        }
        if files.is_empty() {
            files = self.defining_files(name);
        }
        files
    }

    /// Returns the mentions that name no file.
    #[must_use]
    pub fn unknown_mentions(&self) -> Vec<&'q str> {
        let paths: Vec<_> = self.files.iter().map(|file| file.path.as_str()).collect();
        let index = PathIndex::new(paths);
        let names = self.query.named.iter().map(String::as_str);
        names.filter(|name| self.named_files(name, &index).is_empty()).collect()
    }

    /// Returns the files that define a symbol. More than [`p::PASSAGE_FILES`] would be too many.
    fn defining_files(&self, symbol: &str) -> Vec<usize> {
        let term = self.query.symbol_term(symbol).and_then(|term| u16::try_from(term).ok());
        let Some(term) = term else { return Vec::new() };
        let defines =
            |(_, file): &(usize, &File)| file.counts.get(term)[Field::Definitions as usize] > 0;
        let files = self.files.iter().enumerate().filter(defines).map(|(at, _)| at);
        files.take(p::PASSAGE_FILES).collect()
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
        if self.changing.contains(&file) {
            reasons.push("changed according to --diff".to_owned());
        } else if let Some(mention) = signals.mentions.by_file.get(&file) {
            reasons.push(format!("named in the question: {}", mention.name));
        }
        let counts = &self.files[file].counts;
        let mut terms: Vec<_> = counts
            .found
            .iter()
            .map(|(term, fields)| {
                (signals.statistics.reason_weight(self.query, *term, fields, counts), *term, fields)
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
