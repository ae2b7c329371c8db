//! Fills budgets with the files of a ranking, in order, and computes the figures of the ranking.
//!
//! Every ranking is filled by the same rules, regardless of the program that it comes from.

use std::collections::{HashMap, HashSet};

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use super::hunks::{self, Hunks, Shown};
use super::metrics::{Figures, Metric};
use super::repository::{Checkout, TreeFile};
use crate::harness::float;

/// The budgets, in tokens.
pub(super) const BUDGETS: [u32; 3] = [8_000, 16_000, 32_000];

/// The tokens around a file in addition to its path.
const HEADER: u32 = 12;

/// The cost of a file without definitions in a text of outlines.
const NO_OUTLINE: u32 = 15;

/// The number of files at the top of a ranking that are tried.
const TRIED: usize = 400;

/// The number of tokens that are too few for another file.
const REST: u32 = 40;

/// The longest line of an outline, in characters.
const OUTLINE_LINE: usize = 160;

/// The number of files that count as the top of a ranking.
const TOP: usize = 10;

/// Returns the lines of a text that begin a definition, for a file of this path.
pub(super) type Outliner = fn(path: &str, text: &str) -> Vec<String>;

/// The tokens of paths, files and outlines. Each content is counted once.
pub(super) struct Costs {
    counter: Tiktoken,
    outliner: Outliner,
    paths: HashMap<String, u32>,
    files: HashMap<String, u32>,
    outlines: HashMap<String, u32>,
}

impl Costs {
    pub(super) fn new(outliner: Outliner) -> Self {
        Self {
            counter: Tiktoken::new(Encoding::O200kBase),
            outliner,
            paths: HashMap::new(),
            files: HashMap::new(),
            outlines: HashMap::new(),
        }
    }

    /// Returns the cost of a file in full.
    fn full(&mut self, file: &TreeFile, checkout: &Checkout) -> u32 {
        if !self.files.contains_key(&file.blob) {
            let tokens = self.counter.estimate(&checkout.read(&file.path));
            self.files.insert(file.blob.clone(), tokens);
        }
        self.path(&file.path) + self.files[&file.blob]
    }

    /// Returns the cost of a file's outline.
    fn outline(&mut self, file: &TreeFile, checkout: &Checkout) -> u32 {
        if !self.outlines.contains_key(&file.blob) {
            let lines = (self.outliner)(&file.path, &checkout.read(&file.path));
            let lines: Vec<String> =
                lines.iter().map(|line| line.chars().take(OUTLINE_LINE).collect()).collect();
            let tokens = self.counter.estimate(&lines.join("\n"));
            let tokens = if lines.is_empty() { NO_OUTLINE } else { tokens };
            self.outlines.insert(file.blob.clone(), tokens);
        }
        self.path(&file.path) + self.outlines[&file.blob]
    }

    fn path(&mut self, path: &str) -> u32 {
        if !self.paths.contains_key(path) {
            self.paths.insert(path.to_owned(), HEADER + self.counter.estimate(path));
        }
        self.paths[path]
    }
}

/// Takes files in order as long as they fit. A file that does not fit is passed over. Returns the
/// paths of the files that each budget has.
pub(super) fn fill<'f>(
    files: &[&'f TreeFile],
    mut cost: impl FnMut(&TreeFile) -> u32,
) -> [HashSet<&'f str>; BUDGETS.len()] {
    let mut shown: [HashSet<&str>; BUDGETS.len()] = std::array::from_fn(|_| HashSet::new());
    let mut left = BUDGETS;
    for file in files.iter().take(TRIED) {
        let cost = cost(file);
        for (shown, left) in shown.iter_mut().zip(&mut left) {
            if cost <= *left {
                *left -= cost;
                shown.insert(&file.path);
            }
        }
        if left.iter().all(|left| *left < REST) {
            break;
        }
    }
    shown
}

/// A ranking of the files of a tree, with the texts that its budgets have.
pub(super) struct Filled<'f> {
    files: Vec<&'f TreeFile>,
    full: [HashSet<&'f str>; BUDGETS.len()],
    outlines: [HashSet<&'f str>; BUDGETS.len()],
}

impl<'f> Filled<'f> {
    /// Fills the budgets with the files of a tree in the order of `paths`. Other paths are ignored,
    /// and a path counts where it occurs first.
    pub(super) fn new<'p>(
        paths: impl IntoIterator<Item = &'p str>,
        tree: &'f [TreeFile],
        checkout: &Checkout,
        costs: &mut Costs,
    ) -> Self {
        let known: HashMap<_, _> = tree.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut seen = HashSet::new();
        let files = paths.into_iter().filter_map(|path| known.get(path).copied());
        let files: Vec<_> = files.filter(|file| seen.insert(file.path.as_str())).collect();
        let full = fill(&files, |file| costs.full(file, checkout));
        let outlines = fill(&files, |file| costs.outline(file, checkout));
        Self { files, full, outlines }
    }

    /// Returns the figures of the ranking for these gold files.
    pub(super) fn figures(&self, gold: &[String]) -> Figures {
        let count = |shown: &HashSet<&str>| share(gold, |path| shown.contains(path));
        let gold_set: HashSet<_> = gold.iter().map(String::as_str).collect();
        let first = self.files.iter().position(|file| gold_set.contains(file.path.as_str()));
        let top: HashSet<_> = self.files.iter().take(TOP).map(|file| file.path.as_str()).collect();
        Figures::from_iter([
            (Metric::R8, count(&self.full[0])),
            (Metric::R16, count(&self.full[1])),
            (Metric::R32, count(&self.full[2])),
            (Metric::O8, count(&self.outlines[0])),
            (Metric::Mrr, first.map_or(0.0, |place| 1.0 / float(place as u64 + 1))),
            (Metric::R10, count(&top)),
        ])
    }

    /// Returns the part of the hunks in the files that the first two budgets show in full.
    pub(super) fn hunks(&self, hunks: &Hunks) -> Figures {
        let recall = |shown: &HashSet<&str>| {
            hunks::recall(hunks, |path| shown.contains(path).then_some(Shown::All))
        };
        Figures::from_iter([
            (Metric::C8, recall(&self.full[0])),
            (Metric::C16, recall(&self.full[1])),
        ])
    }
}

/// Returns the part of the gold files that meet a condition.
pub(super) fn share(gold: &[String], is_hit: impl Fn(&str) -> bool) -> f64 {
    let hits = gold.iter().filter(|path| is_hit(path)).count();
    float(hits as u64) / float(gold.len().max(1) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Costs, Filled, fill};
    use crate::relevance::metrics::Metric;
    use crate::relevance::repository::{Checkout, TreeFile};

    fn file(path: &str) -> TreeFile {
        TreeFile { path: path.into(), blob: format!("blob of {path}") }
    }

    #[test]
    fn files_that_do_not_fit_are_passed_over() {
        let tree = ["a", "b", "c", "d"].map(file);
        let cost = |file: &TreeFile| match file.path.as_str() {
            "a" => 5_000,
            "b" => 9_000,
            "c" => 2_990,
            _ => 4_000,
        };
        let [small, middle, large] = fill(&tree.iter().collect::<Vec<_>>(), cost);
        assert_eq!(small, HashSet::from(["a", "c"]));
        assert_eq!(middle, HashSet::from(["a", "b"]));
        assert_eq!(large, HashSet::from(["a", "b", "c", "d"]));
    }

    #[test]
    fn figures_of_a_ranking_are_parts_of_the_gold_files() {
        let folder = tempfile::tempdir().unwrap();
        let text = "word ".repeat(6_000);
        let tree: Vec<_> = ["big.rs", "gold.rs", "other.rs", "small.md"].map(file).into();
        for file in &tree {
            let text = if file.path == "small.md" { "few words" } else { &text };
            std::fs::write(folder.path().join(&file.path), text).unwrap();
        }
        let checkout = Checkout { root: folder.path().to_owned() };
        let mut costs = Costs::new(|path, _| {
            let lines = if path == "gold.rs" { vec!["fn a()".repeat(90)] } else { Vec::new() };
            lines.into_iter().map(|line: String| line).collect()
        });
        let ranking = ["missing.rs", "big.rs", "gold.rs", "big.rs", "small.md"];
        let filled = Filled::new(ranking, &tree, &checkout, &mut costs);
        let gold = ["gold.rs".to_owned(), "other.rs".to_owned()];
        let figures = filled.figures(&gold);
        let figure = |metric| figures.get(metric).unwrap();
        // Each file has 6,000 tokens; the first budget has room for one, the second for two.
        for (metric, expected) in [
            (Metric::R8, 0.0),
            (Metric::R16, 0.5),
            (Metric::R32, 0.5),
            (Metric::O8, 0.5),
            (Metric::Mrr, 0.5),
            (Metric::R10, 0.5),
        ] {
            assert!((figure(metric) - expected).abs() < 1e-9, "{metric:?}");
        }
        let hunks = [("gold.rs".to_owned(), vec![(1, 1)]), ("other.rs".to_owned(), vec![(1, 1)])];
        let hunks = filled.hunks(&hunks.into());
        assert_eq!((hunks.get(Metric::C8), hunks.get(Metric::C16)), (Some(0.0), Some(0.5)));
        // 12, the path, and the first 160 characters of the line.
        let line = costs.counter_of(&"fn a()".repeat(90)[..160]);
        assert_eq!(costs.outline(&tree[1], &checkout), costs.path("gold.rs") + line);
        assert_eq!(costs.outline(&tree[3], &checkout), costs.path("small.md") + 15);
    }

    impl Costs {
        fn counter_of(&self, text: &str) -> u32 {
            lcp_tokens::TokenEstimator::estimate(&self.counter, text)
        }
    }
}
