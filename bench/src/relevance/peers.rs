//! Orders of files to compare with: simple rankings, computed here.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::kinds::{is_generated, is_test, name, regex};
use super::repository::{Checkout, TreeFile};
use crate::harness::{Result, float};

/// The number of newest commits that a ranking by time looks at.
const COMMITS: &str = "-n1000";

/// The usual parameters of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Returns the files with the gold files first: no ranking is better.
pub(super) fn perfect<'f>(tree: &'f [TreeFile], gold: &[String]) -> Vec<&'f str> {
    sorted_by_key(tree, |path| !gold.iter().any(|gold| gold == path))
}

/// Returns the order of a pack without a query: READMEs, all other files by path, tests and
/// examples, and generated files.
pub(super) fn by_path(tree: &[TreeFile]) -> Vec<&str> {
    sorted_by_key(tree, |path| {
        if is_generated(path) {
            3
        } else if is_test(path) {
            2
        } else {
            u8::from(!name(path).to_lowercase().starts_with("readme"))
        }
    })
}

/// Returns the files that changed last first. Files that did not change in the newest commits come
/// last.
pub(super) fn by_recency<'f>(tree: &'f [TreeFile], checkout: &Checkout) -> Result<Vec<&'f str>> {
    let log = ["log", COMMITS, "--no-merges", "--no-renames", "--name-only", "--format=", "HEAD"];
    let log = checkout.git(&log)?;
    let mut places = HashMap::new();
    for (place, path) in log.lines().enumerate() {
        places.entry(path).or_insert(place);
    }
    Ok(sorted_by_key(tree, |path| places.get(path).copied().unwrap_or(usize::MAX)))
}

/// Sorts files by a key. Files with the same key stay in the order of their paths.
fn sorted_by_key<K: Ord>(tree: &[TreeFile], key: impl Fn(&str) -> K) -> Vec<&str> {
    let mut paths: Vec<_> = tree.iter().map(|file| file.path.as_str()).collect();
    paths.sort_by_cached_key(|path| key(path));
    paths
}

/// BM25 over files: one field with the path and the content. The words of each content are counted
/// once.
#[derive(Default)]
pub(super) struct Bm25 {
    contents: HashMap<String, HashMap<String, u32>>,
}

impl Bm25 {
    /// Returns the files in the order of their scores for a query.
    pub(super) fn order<'f>(
        &mut self,
        query: &str,
        tree: &'f [TreeFile],
        checkout: &Checkout,
    ) -> Vec<&'f str> {
        let mut terms: Vec<_> = counts(query).into_iter().collect();
        terms.sort_unstable();
        for file in tree {
            if !self.contents.contains_key(&file.blob) {
                self.contents.insert(file.blob.clone(), counts(&checkout.read(&file.path)));
            }
        }
        let documents: Vec<_> = tree
            .iter()
            .map(|file| {
                let (content, path) = (&self.contents[&file.blob], counts(&file.path));
                let length: u32 = content.values().chain(path.values()).sum();
                let count =
                    |term: &str| content.get(term).unwrap_or(&0) + path.get(term).unwrap_or(&0);
                let counts: Vec<_> = terms.iter().map(|(term, _)| f64::from(count(term))).collect();
                (f64::from(length), counts)
            })
            .collect();
        let total = float(documents.len() as u64);
        let average = documents.iter().map(|(length, _)| length).sum::<f64>() / total.max(1.0);
        let weights: Vec<_> = terms
            .iter()
            .enumerate()
            .map(|(term, (_, times))| {
                let having = documents.iter().filter(|(_, counts)| counts[term] > 0.0).count();
                let having = float(having as u64);
                f64::from(*times) * (1.0 + (total - having + 0.5) / (having + 0.5)).ln()
            })
            .collect();
        let score = |(length, counts): &(f64, Vec<f64>)| {
            let norm = K1 * (1.0 - B + B * length / average.max(f64::MIN_POSITIVE));
            let term = |(count, weight): (&f64, &f64)| weight * count * (K1 + 1.0) / (count + norm);
            counts.iter().zip(&weights).map(term).sum::<f64>()
        };
        let mut scored: Vec<_> = documents.iter().map(score).zip(tree).collect();
        scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        scored.into_iter().map(|(_, file)| file.path.as_str()).collect()
    }
}

/// Counts the stems of the words of a text.
fn counts(text: &str) -> HashMap<String, u32> {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| regex(r"\w+"));
    let mut counts = HashMap::new();
    let text = text.to_lowercase();
    for word in WORDS.find_iter(&text) {
        let stem = stem(word.as_str());
        match counts.get_mut(stem) {
            Some(count) => *count += 1,
            None => drop(counts.insert(stem.to_owned(), 1)),
        }
    }
    counts
}

/// Removes one common ending of an English word, and the `e` before it, so that `caches`, `caching`
/// and `cache` are the same.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 8] = ["ations", "ation", "ings", "ing", "ers", "er", "ed", "s"];
    let without = ENDINGS.iter().find_map(|ending| {
        let stem = word.strip_suffix(ending)?;
        (stem.len() >= 4 && stem.is_ascii() && !stem.ends_with('s')).then_some(stem)
    });
    let word = without.unwrap_or(word);
    match word.strip_suffix('e') {
        Some(stem) if stem.len() >= 3 && stem.is_ascii() => stem,
        _ => word,
    }
}

/// Returns the paths of a program's output in reverse order, each at its last place, because
/// programs that write the most important file last leave it nearest to the question.
pub(super) fn last_first(paths: Vec<String>) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut order: Vec<_> = paths.into_iter().enumerate().collect();
    order.sort_by_key(|(place, _)| Reverse(*place));
    order.retain(|(_, path)| seen.insert(path.clone()));
    order.into_iter().map(|(_, path)| path).collect()
}

#[cfg(test)]
mod tests {
    use super::{Bm25, by_path, last_first, perfect, stem};
    use crate::relevance::repository::{Checkout, TreeFile};

    fn tree(paths: &[&str]) -> Vec<TreeFile> {
        let file = |path: &&str| TreeFile { path: (*path).into(), blob: format!("of {path}") };
        paths.iter().map(file).collect()
    }

    #[test]
    fn path_order_begins_with_readmes() {
        let tree = tree(&["a.rs", "b/README.md", "dist/c.js", "tests/a.rs", "z.rs"]);
        assert_eq!(by_path(&tree), ["b/README.md", "a.rs", "z.rs", "tests/a.rs", "dist/c.js"]);
        assert_eq!(perfect(&tree, &["z.rs".into()])[0], "z.rs");
    }

    #[test]
    fn bm25_prefers_rare_words_and_short_files() {
        let folder = tempfile::tempdir().unwrap();
        let tree = tree(&["a.rs", "b.rs", "c.rs", "pool.rs"]);
        let rest = "fn other() {}\n".repeat(30);
        for (path, text) in [
            ("a.rs", format!("fn read() {{}}\n{rest}")),
            ("b.rs", format!("fn read() {{ timeout }}\n{rest}{rest}")),
            ("c.rs", format!("fn read() {{ timeouts }}\n{rest}")),
            ("pool.rs", rest.clone()),
        ] {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let checkout = Checkout { root: folder.path().to_owned() };
        let mut bm25 = Bm25::default();
        let order = bm25.order("read with timeout", &tree, &checkout);
        assert_eq!(order, ["c.rs", "b.rs", "a.rs", "pool.rs"]);
        assert_eq!(bm25.order("the pools", &tree, &checkout)[0], "pool.rs");
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for word in ["cache", "caches", "caching", "cached"] {
            assert_eq!(stem(word), "cach", "{word}");
        }
        assert_eq!((stem("class"), stem("us"), stem("käse")), ("class", "us", "käse"));
    }

    #[test]
    fn last_path_of_a_text_comes_first() {
        let paths = ["a", "b", "a", "c"].map(str::to_owned).into();
        assert_eq!(last_first(paths), ["c", "a", "b"]);
    }
}
