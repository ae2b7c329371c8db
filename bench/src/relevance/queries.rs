//! The queries: messages of past commits, with the files and lines that the commits changed.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Serialize;
use sha1::{Digest, Sha1};

use super::hunks::{self, Hunks};
use super::kinds::is_gold;
use super::message;
use super::repository::Repository;
use crate::harness::{Result, at};

/// The number of newest commits from which queries are chosen.
const COMMITS: &str = "-n1500";

/// The numbers of gold files and of changed files that a commit may have.
const GOLD_MAX: usize = 8;
const CHANGED_MAX: usize = 30;

/// The numbers of changed lines in gold files that a commit may have.
const LINES: std::ops::RangeInclusive<usize> = 2..=400;

/// The least numbers of words in a cleaned message, and in a query without leaks.
const WORDS_MIN: usize = 4;
const WORDS_LEFT_MIN: usize = 3;

/// A query, in the form in which lists of queries have it.
#[derive(Serialize)]
pub(super) struct Query {
    set: &'static str,
    pub(super) id: String,
    repo: String,
    pub(super) commit: String,
    pub(super) parent: String,
    #[serde(rename = "query")]
    pub(super) text: String,
    /// The query without the part of its subject up to the colon.
    noscope: String,
    issue_like: bool,
    /// The source files that the commit changed.
    pub(super) gold: Vec<String>,
    pub(super) hunks: Hunks,
    /// All files that the commit changed: also tests, documents and others.
    #[serde(skip)]
    pub(super) changed: Vec<String>,
}

impl Query {
    /// Returns the first 12 digits of the commit, by which queries of different lists are matched.
    pub(super) fn short(&self) -> &str {
        &self.commit[..12]
    }
}

/// A commit that may become a query.
struct Candidate {
    commit: String,
    parent: String,
    query: String,
    gold: Vec<String>,
    changed: Vec<String>,
}

/// Chooses up to `count` queries. Of all commits that qualify, those with the smallest SHA-1 of
/// their hash are taken. Unless `leaks` is set, words that give the answer away are removed.
pub(super) fn choose(repository: &Repository, count: usize, leaks: bool) -> Result<Vec<Query>> {
    let format = "--format=%x01%H%x02%P%x02%an%x02%B%x03";
    let log = ["log", "--no-merges", COMMITS, format, "--raw", "--no-abbrev", "HEAD"];
    let mut candidates = candidates(&repository.git(&log)?);
    candidates.sort_by_cached_key(|candidate| Sha1::digest(&candidate.commit).to_vec());
    let mut queries = Vec::new();
    for candidate in candidates {
        if queries.len() == count {
            break;
        }
        queries.extend(query(repository, candidate)?);
    }
    if !leaks {
        for query in &mut queries {
            query.text = message::without_leaks(&query.text, &query.gold);
            query.noscope = message::without_scope(&query.text);
        }
        queries.retain(|query| message::words(&query.text) >= WORDS_LEFT_MIN);
    }
    Ok(queries)
}

/// Reads a log with raw changes. Of several commits with the same subject, the newest counts.
fn candidates(log: &str) -> Vec<Candidate> {
    let mut subjects = HashSet::new();
    let mut candidates = Vec::new();
    for entry in log.split('\u{1}').skip(1) {
        let Some((head, raw)) = entry.split_once('\u{3}') else { continue };
        let mut head = head.splitn(4, '\u{2}');
        let mut part = || head.next().unwrap_or_default();
        let (commit, parents, author, message) = (part(), part(), part(), part());
        let subject = message.trim().lines().next().unwrap_or_default();
        let Some(parent) = parents.split(' ').next().filter(|parent| !parent.is_empty()) else {
            continue;
        };
        if message::is_routine(author, subject) || subjects.contains(&subject.to_lowercase()) {
            continue;
        }
        let changes: Vec<_> = raw.lines().filter_map(change).collect();
        let old = || changes.iter().filter(|(status, _)| matches!(status, 'M' | 'D'));
        let paths = |(_, path): &(char, &str)| (*path).to_owned();
        let gold: Vec<_> = old().filter(|(_, path)| is_gold(path)).map(paths).collect();
        let query = message::clean(message);
        let has_size = (1..=GOLD_MAX).contains(&gold.len()) && changes.len() <= CHANGED_MAX;
        if has_size && message::words(&query) >= WORDS_MIN {
            subjects.insert(subject.to_lowercase());
            candidates.push(Candidate {
                commit: commit.to_owned(),
                parent: parent.to_owned(),
                query,
                gold,
                changed: old().map(paths).collect(),
            });
        }
    }
    candidates
}

/// Reads a line of raw changes: `:100644 100644 OLD NEW M<tab>PATH`.
fn change(line: &str) -> Option<(char, &str)> {
    let (head, path) = line.strip_prefix(':')?.split_once('\t')?;
    Some((head.split(' ').nth(4)?.chars().next()?, path))
}

/// Returns a candidate's query if its changes have a fitting size.
fn query(repository: &Repository, candidate: Candidate) -> Result<Option<Query>> {
    let Candidate { commit, parent, query, mut gold, mut changed } = candidate;
    let diff = |flags: &[&str], gold: &[String]| {
        let paths: Vec<_> = gold.iter().map(String::as_str).collect();
        let commits = [parent.as_str(), commit.as_str(), "--"];
        repository.git(&[&["diff", "-w"], flags, &commits, &paths].concat())
    };
    let lines = changed_lines(&diff(&["--numstat"], &gold)?);
    gold.retain(|path| lines.get(path.as_str()).is_some_and(|lines| *lines > 0));
    if gold.is_empty() || !LINES.contains(&lines.values().sum()) {
        return Ok(None);
    }
    let tree = repository.tree(&parent)?;
    let is_there = |path: &String| tree.binary_search_by(|file| file.path.cmp(path)).is_ok();
    gold.retain(is_there);
    changed.retain(is_there);
    if gold.is_empty() {
        return Ok(None);
    }
    let flags = ["-U0", "--no-ext-diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"];
    Ok(Some(Query {
        set: "commits",
        id: format!("{}@{}", repository.place, &commit[..12]),
        repo: repository.place.clone(),
        hunks: hunks::parse(&diff(&flags, &gold)?),
        noscope: message::without_scope(&query),
        issue_like: message::is_like_issue(&query),
        commit,
        parent,
        text: query,
        gold,
        changed,
    }))
}

/// Reads the output of `git diff --numstat`: the number of changed lines of each file.
fn changed_lines(stat: &str) -> HashMap<String, usize> {
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let (added, removed) = (parts.next()?.parse::<usize>(), parts.next()?.parse::<usize>());
        Some((parts.next()?.to_owned(), added.ok()? + removed.ok()?))
    };
    stat.lines().filter_map(line).collect()
}

/// Writes queries as JSON lines.
pub(super) fn write<'q>(path: &Path, queries: impl IntoIterator<Item = &'q Query>) -> Result {
    let mut text = String::new();
    for query in queries {
        text += &serde_json::to_string(query)?;
        text.push('\n');
    }
    std::fs::write(path, text).map_err(at(path))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{candidates, changed_lines};

    fn entry(commit: &str, author: &str, message: &str, changes: &[(char, &str)]) -> String {
        let line = |(status, path): &(char, &str)| format!(":100644 100644 a b {status}\t{path}\n");
        let changes: String = changes.iter().map(line).collect();
        format!("\u{1}{commit}\u{2}p1 p2\u{2}{author}\u{2}{message}\n\u{3}\n\n{changes}")
    }

    #[test]
    fn commits_qualify_by_their_changes_and_message() {
        let good = "net: wake readers when the peer closes";
        let source = ('M', "src/a.rs");
        let many: Vec<_> = (0..9).map(|_| source).collect();
        let log = [
            entry("c1", "A", good, &[source, ('A', "src/new.rs"), ('M', "tests/a.rs")]),
            entry("c2", "A", good, &[source]),
            entry("c3", "A", "Bump the version of many crates", &[source]),
            entry("c4", "renovate[bot]", "net: change many other things", &[source]),
            entry("c5", "A", "net: change only tests this time", &[('M', "tests/a.rs")]),
            entry("c6", "A", "net: change far too many files", &many),
            entry("c7", "A", "too short", &[source]),
        ];
        let candidates = candidates(&log.concat());
        assert_eq!(candidates.len(), 1);
        assert_eq!((&*candidates[0].commit, &*candidates[0].parent), ("c1", "p1"));
        assert_eq!(candidates[0].gold, ["src/a.rs"]);
        assert_eq!(candidates[0].changed, ["src/a.rs", "tests/a.rs"]);
    }

    #[test]
    fn changed_lines_are_added_and_removed_ones() {
        let lines = changed_lines("3\t4\tsrc/a.rs\n-\t-\tx.png\n0\t0\tb c.rs\n");
        assert_eq!((lines["src/a.rs"], lines["b c.rs"], lines.len()), (7, 0, 2));
    }
}
