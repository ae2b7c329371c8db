//! Past commits: those similar to the question vote for the files that they changed.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};
use lcp_ingest::Commit;

use crate::parameters::{VOTE_B, VOTE_HALF_LIFE, VOTE_K1};
use crate::query::{Query, boundary};
use crate::scan::{Field, Scanner};

/// A commit that changes more files says little of each.
pub(crate) const FILES_MAX: usize = 30;

/// The number of bytes of a message that are read after its first line.
const BODY_BYTES: usize = 300;

/// The votes of past commits for a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Votes {
    pub(crate) score: f64,
    /// The commit with the most weight, as an index.
    pub(crate) best: Option<(usize, f64)>,
}

/// Returns the votes for each file, by its index. `commits` are in order, newest first, and `files`
/// has the index of each path.
pub(crate) fn votes(
    query: &Query,
    commits: &[Commit],
    files: &HashMap<&str, usize>,
) -> BTreeMap<usize, Votes> {
    let scanner = Scanner::new(query);
    let mut read = Vec::new();
    for (age, commit) in commits.iter().enumerate() {
        let changed: Vec<_> =
            commit.files.iter().filter_map(|path| files.get(path.as_str()).copied()).collect();
        if !changed.is_empty() && commit.files.len() <= FILES_MAX {
            read.push((age, changed, scanner.scan("", beginning(&commit.message))));
        }
    }
    let mut with_term: HashMap<u16, u32> = HashMap::new();
    let mut words = 0_u64;
    for (_, _, counts) in &read {
        words += u64::from(counts.lengths[Field::Body as usize]);
        for (term, _) in &counts.found {
            *with_term.entry(*term).or_default() += 1;
        }
    }
    let mut votes: BTreeMap<usize, Votes> = BTreeMap::new();
    if read.is_empty() {
        return votes;
    }
    let mean = words as f64 / read.len() as f64;
    for (age, changed, counts) in &read {
        let length = f64::from(counts.lengths[Field::Body as usize]);
        let norm = VOTE_K1 * (1.0 - VOTE_B + VOTE_B * length / mean.max(1.0));
        let mut score = 0.0;
        for (term, fields) in &counts.found {
            let known = &query.terms[usize::from(*term)];
            if known.is_word() {
                let count = f64::from(fields[Field::Body as usize]);
                let rarity = idf(read.len(), with_term[term]);
                score += known.weight * rarity * count * (VOTE_K1 + 1.0) / (count + norm);
            }
        }
        if score > 0.0 {
            let decay = libm::exp2(-(*age as f64) / VOTE_HALF_LIFE);
            let vote = score * score * decay / (commits[*age].files.len() as f64).sqrt();
            for file in changed {
                let votes = votes.entry(*file).or_default();
                votes.score += vote;
                if votes.best.is_none_or(|(_, best)| vote > best) {
                    votes.best = Some((*age, vote));
                }
            }
        }
    }
    for votes in votes.values_mut() {
        votes.score = votes.score.sqrt();
    }
    votes
}

/// Returns the weight of a term by the number of texts that have it.
pub(crate) fn idf(texts: usize, with_term: u32) -> f64 {
    let (texts, with_term) = (texts as f64, f64::from(with_term));
    libm::log(1.0 + (texts - with_term + 0.5) / (with_term + 0.5))
}

fn beginning(message: &str) -> &str {
    let subject = message.find('\n').unwrap_or(message.len());
    &message[..boundary(message, subject + BODY_BYTES)]
}
