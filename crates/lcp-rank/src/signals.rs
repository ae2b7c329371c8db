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
    words: Words,
    pub(crate) history: HistorySignals,
    pub(crate) mentions: Mentions,
    companions: Vec<Companion>,
    paths: Vec<String>,
}

/// The signals of words. Each is divided by its largest value or by its cap, `identifiers` by the
/// largest value of `all`. `path` is not scaled.
#[derive(Debug)]
struct Words {
    subject: Vec<f64>,
    all: Vec<f64>,
    identifiers: Vec<f64>,
    single: Vec<f64>,
    definitions: Vec<f64>,
    path: Vec<f64>,
}

impl Words {
    fn new(scores: &[WordScores], rarity: f64) -> Self {
        let field = |get: fn(&WordScores) -> f64| scores.iter().map(get).collect::<Vec<_>>();
        let mut words = Self {
            subject: field(|it| it.subject),
            all: field(|it| it.all),
            identifiers: field(|it| it.identifiers),
            single: field(|it| it.single),
            definitions: field(|it| it.definitions),
            path: field(|it| it.path),
        };
        let most = words.all.iter().copied().fold(0.0, f64::max);
        scale(&mut words.subject, 0.0);
        scale(&mut words.identifiers, most);
        scale(&mut words.all, most);
        scale(&mut words.single, p::SINGLE_IDENTIFIERS_CAP * rarity);
        scale(&mut words.definitions, p::DEFINITIONS_CAP * rarity);
        words
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
        let words = Words::new(&scores, statistics.scale);
        let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
        let roles: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.role)).collect();
        let companions = companions(&roles);
        let folders = Files::new(paths, |file| files[file].role == Role::Source);
        let history = HistorySignals::new(query, commits, &folders);
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Self { statistics, words, history, mentions, companions, paths }
    }

    /// Returns the score of each file. `passages` has the signals of passages.
    pub(crate) fn scores(&self, roles: &[Role], passages: &PassageSignals) -> Vec<f64> {
        let of =
            |signal: &BTreeMap<usize, f64>, file: usize| signal.get(&file).copied().unwrap_or(0.0);
        let mut companion = vec![0.0; roles.len()];
        for &Companion { test, file, certainty } in &self.companions {
            let fits = (self.words.all[test] + of(&passages.best, test)) * certainty / 2.0;
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
            p::WORDS * self.words.subject[file]
                + p::IDENTIFIERS * self.words.identifiers[file]
                + p::SINGLE_IDENTIFIERS * self.words.single[file]
                + p::DEFINITIONS * self.words.definitions[file]
                + p::PATH * self.words.path[file]
                + p::PASSAGE * libm::pow(best, p::PASSAGE_POWER)
                + p::PAIRS * of(&passages.pairs, file)
                + p::VOTES * self.history.votes[file]
                + p::FOLDER_VOTES * self.history.folder_votes[file]
                + p::RECENT * self.history.recent[file]
                + p::FOLDER_RECENT * self.history.folder_recent[file]
                + p::FOLDER_ACTIVITY * self.history.folder_activity[file]
                + p::COMPANION * companion[file]
                + by_role
        };
        let mut own: Vec<f64> = (0..roles.len()).map(score).collect();
        let together = self.together(&own);
        for (own, together) in own.iter_mut().zip(together) {
            *own += p::TOGETHER * together;
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
    fn together(&self, scores: &[f64]) -> Vec<f64> {
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
        let best = best.iter().take(p::TOGETHER_FILES).map(|file| (*file, odds(file) / total));
        self.history.together(&best.collect::<Vec<_>>(), scores.len())
    }
}
