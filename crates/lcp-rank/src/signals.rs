//! The signals of files, and their scores.

use std::collections::BTreeMap;

use lcp_ingest::Commit;

use crate::companions::{Companion, companions};
use crate::document::File;
use crate::formula::{Statistics, WordScores, scale};
use crate::history::{Files, HistorySignals};
use crate::mentions::Mentions;
use crate::parameters as p;
use crate::passage_scores::PassageSignals;
use crate::query::Query;
use crate::role::Role;

/// The signals of all files.
#[derive(Debug)]
pub(crate) struct Signals {
    pub(crate) statistics: Statistics,
    by_words: WordSignals,
    pub(crate) history: HistorySignals,
    pub(crate) mentions: Mentions,
    companions: Vec<Companion>,
    paths: Vec<String>,
}

/// The signals of words. `identifiers` is divided by the largest value of `all`, `path` by nothing,
/// and each other one by its largest value, or by its cap if that is larger.
#[derive(Debug)]
struct WordSignals {
    /// Words and identifiers.
    all: Vec<f64>,
    words: Vec<f64>,
    identifiers: Vec<f64>,
    single: Vec<f64>,
    definitions: Vec<f64>,
    path: Vec<f64>,
}

impl WordSignals {
    fn new(scores: &[WordScores], unit: f64) -> Self {
        let field = |get: fn(&WordScores) -> f64| scores.iter().map(get).collect::<Vec<_>>();
        let mut signals = Self {
            all: field(|it| it.words + it.identifiers),
            words: field(|it| it.words),
            identifiers: field(|it| it.identifiers),
            single: field(|it| it.single),
            definitions: field(|it| it.definitions),
            path: field(|it| it.path),
        };
        let most = signals.all.iter().copied().fold(0.0, f64::max);
        scale(&mut signals.words, 0.0);
        scale(&mut signals.identifiers, most);
        scale(&mut signals.all, most);
        scale(&mut signals.single, p::SINGLE_IDENTIFIERS_CAP * unit);
        scale(&mut signals.definitions, p::DEFINITIONS_CAP * unit);
        signals
    }
}

impl Signals {
    pub(crate) fn new(
        query: &Query,
        files: &[File],
        commits: &[Commit],
        mentions: Mentions,
    ) -> Self {
        let statistics = Statistics::new(query, files.iter().map(|file| &file.counts));
        let scores: Vec<_> =
            files.iter().map(|file| statistics.words(query, &file.counts)).collect();
        let by_words = WordSignals::new(&scores, statistics.scale);
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        let roles: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.role)).collect();
        let companions = companions(&roles);
        let folders = Files::new(paths, |file| files[file].role == Role::Source);
        let history = HistorySignals::new(query, commits, &folders);
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { statistics, by_words, history, mentions, companions, paths }
    }

    /// Returns the score of each file. `passages` has the signals of passages.
    pub(crate) fn scores(&self, roles: &[Role], passages: &PassageSignals) -> Vec<f64> {
        let of =
            |signal: &BTreeMap<usize, f64>, file: usize| signal.get(&file).copied().unwrap_or(0.0);
        let mut companion = vec![0.0; roles.len()];
        for &Companion { test, file, certainty } in &self.companions {
            let fits = (self.by_words.all[test] + of(&passages.best, test)) * certainty / 2.0;
            companion[file] = f64::max(companion[file], fits);
        }
        let score = |file: usize| {
            let best = of(&passages.best, file);
            let by_role = match roles[file] {
                Role::Source => 0.0,
                Role::Test => p::TEST,
                Role::Document => p::DOCUMENT,
                Role::Other | Role::Generated => p::OTHER,
            };
            p::WORDS * self.by_words.words[file]
                + p::IDENTIFIERS * self.by_words.identifiers[file]
                + p::SINGLE_IDENTIFIERS * self.by_words.single[file]
                + p::DEFINITIONS * self.by_words.definitions[file]
                + p::PATH * self.by_words.path[file]
                + p::PASSAGE * libm::pow(best, p::PASSAGE_POWER)
                + p::BIGRAMS * of(&passages.bigrams, file)
                + p::VOTES * self.history.votes[file]
                + p::FOLDER_VOTES * self.history.folder_votes[file]
                + p::RECENT * self.history.recent[file]
                + p::FOLDER_RECENT * self.history.folder_recent[file]
                + p::FOLDER_ACTIVITY * self.history.folder_activity[file]
                + p::COMPANION * companion[file]
                + by_role
        };
        let mut own: Vec<f64> = (0..roles.len()).map(score).collect();
        let co_change = self.co_change(&own);
        for (own, co_change) in own.iter_mut().zip(co_change) {
            *own += p::CO_CHANGE * co_change;
        }
        for (file, mention) in &self.mentions.by_file {
            own[*file] += p::MENTION * mention.certainty;
        }
        let mut scores = own.clone();
        for &Companion { test, file, .. } in &self.companions {
            scores[test] = scores[test].max(own[file] - p::TEST_FOLLOWS);
        }
        scores
    }

    /// Returns how often each file changed together with those of the highest scores.
    fn co_change(&self, scores: &[f64]) -> Vec<f64> {
        let mut best: Vec<_> = (0..scores.len()).collect();
        best.sort_by(|a, b| {
            scores[*b].total_cmp(&scores[*a]).then_with(|| self.paths[*a].cmp(&self.paths[*b]))
        });
        let top = best.first().map_or(0.0, |file| scores[*file]);
        // In the order of the paths, so that the sum does not depend on the order of the files.
        let mut by_path: Vec<_> = (0..scores.len()).collect();
        by_path.sort_by(|a, b| self.paths[*a].cmp(&self.paths[*b]));
        let odds = |file: &usize| libm::exp(scores[*file] - top);
        let total: f64 = by_path.iter().map(odds).sum();
        let best = best.iter().take(p::CO_CHANGE_FILES).map(|file| (*file, odds(file) / total));
        self.history.co_change(&best.collect::<Vec<_>>(), scores.len())
    }
}
