//! Past commits: those similar to the question vote for the files that they changed.

use foldhash::{HashMap, HashMapExt};
use lcp_ingest::Commit;

use crate::formula::{idf, scale};
use crate::parameters as p;
use crate::paths::folder;
use crate::query::{Query, boundary};
use crate::scan::{Field, Scanner, TermCounts};

/// A commit that changes more files says little of each.
const FILES_MAX: usize = 30;

/// The number of bytes of a message that are read after its first line.
const BODY_BYTES: usize = 300;

/// The signals of past commits for each file, from 0 to 1.
#[derive(Debug)]
pub(crate) struct HistorySignals {
    pub(crate) votes: Vec<f64>,
    pub(crate) folder_votes: Vec<f64>,
    pub(crate) recent: Vec<f64>,
    pub(crate) folder_recent: Vec<f64>,
    pub(crate) folder_activity: Vec<f64>,
    /// The commit with the most weight for each file, and its weight.
    pub(crate) best: HashMap<usize, (usize, f64)>,
    /// The files that changed together, each time with the weight of the commit.
    changes: Vec<(f64, Vec<usize>)>,
}

/// The paths of files and their folders.
pub(crate) struct Files<'f> {
    pub(crate) paths: Vec<&'f str>,
    /// The index of the folder of each file.
    pub(crate) folders: Vec<usize>,
    /// The number of source files in each folder.
    pub(crate) sources: Vec<u32>,
}

impl<'f> Files<'f> {
    pub(crate) fn new(paths: Vec<&'f str>, is_source: impl Fn(usize) -> bool) -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut sources: Vec<u32> = Vec::new();
        let mut folders = Vec::with_capacity(paths.len());
        for (file, path) in paths.iter().enumerate() {
            let next = known.len();
            let folder = *known.entry(folder(path)).or_insert(next);
            if folder == sources.len() {
                sources.push(0);
            }
            sources[folder] += u32::from(is_source(file));
            folders.push(folder);
        }
        Self { paths, folders, sources }
    }
}

/// A commit that changed files of the project.
struct Past {
    /// The number of newer commits.
    age: f64,
    commit: usize,
    changed: Vec<usize>,
    /// The number of all changed files.
    files: f64,
    subject: TermCounts,
    message: TermCounts,
}

impl HistorySignals {
    /// Compares commits with a question. They are in order, newest first.
    pub(crate) fn new(query: &Query, commits: &[Commit], files: &Files<'_>) -> Self {
        let count = files.paths.len();
        let index: HashMap<&str, usize> = files.paths.iter().copied().zip(0..).collect();
        let past = read(query, commits, &index);
        let idfs = message_idfs(query, &past);
        let folder_count = files.sources.len();
        let (mut votes, mut best) = (vec![0.0; count], HashMap::new());
        let mut folder_votes = vec![0.0; folder_count];
        let mut folder_recent = vec![0.0; folder_count];
        let mut folder_activity = vec![0.0; folder_count];
        let weight =
            |term: u16| query.terms[usize::from(term)].weight.sqrt() * idfs[usize::from(term)];
        for commit in &past {
            let by_files = 1.0 / commit.files.sqrt();
            let decay = |half_life: f64| libm::exp2(-commit.age / half_life);
            let subject: f64 = commit.subject.found.iter().map(|(term, _)| weight(*term)).sum();
            let vote = libm::pow(subject, p::VOTE_POWER) * decay(p::VOTE_HALF_LIFE) * by_files;
            let message = |(term, counts): &(u16, [u32; 5])| {
                let count = f64::from(counts[Field::Body as usize]);
                weight(*term) * count / (count + 0.5)
            };
            let length = f64::from(commit.message.lengths[Field::Body as usize]);
            let message: f64 = commit.message.found.iter().map(message).sum();
            let message = message / (4.0 + length).sqrt();
            let folder_vote = message * message * decay(p::FOLDER_VOTE_HALF_LIFE) * by_files;
            for &file in &commit.changed {
                votes[file] += vote;
                if vote > 0.0 {
                    let known = best.entry(file).or_insert((commit.commit, vote));
                    if vote > known.1 {
                        *known = (commit.commit, vote);
                    }
                }
                let folder = files.folders[file];
                folder_votes[folder] += folder_vote;
                folder_recent[folder] += decay(p::FOLDER_RECENT_HALF_LIFE) * by_files;
                folder_activity[folder] += decay(p::FOLDER_ACTIVITY_HALF_LIFE);
            }
        }
        for vote in &mut votes {
            *vote = libm::cbrt(*vote);
        }
        for (folder, recent) in folder_recent.iter_mut().enumerate() {
            folder_votes[folder] = folder_votes[folder].sqrt();
            *recent = libm::log1p(*recent / f64::from(files.sources[folder].max(1)).sqrt());
            folder_activity[folder] = libm::log1p(folder_activity[folder]);
        }
        for signal in [&mut votes, &mut folder_votes, &mut folder_recent, &mut folder_activity] {
            scale(signal, 0.0);
        }
        let of_files = |by_folder: &[f64]| files.folders.iter().map(|at| by_folder[*at]).collect();
        Self {
            votes,
            folder_votes: of_files(&folder_votes),
            recent: recent(commits, &index, count),
            folder_recent: of_files(&folder_recent),
            folder_activity: of_files(&folder_activity),
            best,
            changes: past
                .into_iter()
                .map(|commit| {
                    let decay = libm::exp2(-commit.age / p::CO_CHANGE_HALF_LIFE);
                    (decay / commit.files.sqrt(), commit.changed)
                })
                .collect(),
        }
    }

    /// Returns how much more often each file changed together with the best files than it changes
    /// otherwise, from 0 to 1. `best` has the best files with their shares of the probability.
    pub(crate) fn co_change(&self, best: &[(usize, f64)], count: usize) -> Vec<f64> {
        let mut alone = vec![0.0; count];
        for (weight, changed) in &self.changes {
            for file in changed {
                alone[*file] += weight;
            }
        }
        // A sum over files would depend on their order.
        let weights = self.changes.iter().map(|(weight, changed)| weight * changed.len() as f64);
        let total: f64 = weights.sum();
        let mut co_change = vec![0.0; count];
        for &(one, share) in best {
            let factor = share / (alone[one] + p::CO_CHANGE_MIN);
            for (weight, changed) in &self.changes {
                if changed.contains(&one) {
                    for file in changed.iter().filter(|file| **file != one) {
                        co_change[*file] += factor * weight;
                    }
                }
            }
        }
        if total > 0.0 {
            for (co_change, alone) in co_change.iter_mut().zip(&alone) {
                *co_change /= alone * count as f64 / total + p::CO_CHANGE_ALONE;
            }
        }
        scale(&mut co_change, 0.0);
        co_change
    }
}

fn read(query: &Query, commits: &[Commit], index: &HashMap<&str, usize>) -> Vec<Past> {
    let scanner = Scanner::new(query);
    let mut past = Vec::new();
    for (at, commit) in commits.iter().enumerate() {
        let changed: Vec<_> =
            commit.files.iter().filter_map(|path| index.get(path.as_str()).copied()).collect();
        if changed.is_empty() || commit.files.len() > FILES_MAX {
            continue;
        }
        let subject = commit.message.lines().next().unwrap_or_default();
        let message = &commit.message;
        past.push(Past {
            age: at as f64,
            commit: at,
            changed,
            files: commit.files.len() as f64,
            subject: scanner.scan_words(subject),
            message: scanner.scan_words(&message[..boundary(message, subject.len() + BODY_BYTES)]),
        });
    }
    past
}

/// Returns the IDF of each word in messages.
fn message_idfs(query: &Query, past: &[Past]) -> Vec<f64> {
    let mut with_term = vec![0_u32; query.terms.len()];
    for (term, _) in past.iter().flat_map(|commit| &commit.message.found) {
        with_term[usize::from(*term)] += 1;
    }
    with_term.iter().map(|texts| idf(past.len(), *texts)).collect()
}

/// Returns a value for each file that is higher for recently changed ones.
fn recent(commits: &[Commit], index: &HashMap<&str, usize>, count: usize) -> Vec<f64> {
    let mut recent = vec![0.0; count];
    let mut place = 0.0;
    for path in commits.iter().flat_map(|commit| &commit.files) {
        if let Some(&file) = index.get(path.as_str())
            && recent[file] == 0.0
        {
            recent[file] = 1.0 / (1.0 + place / p::RECENT_FILES);
            place += 1.0;
        }
    }
    recent
}
