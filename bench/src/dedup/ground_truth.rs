//! The ground truth of near texts: all pairs whose line sets have a Jaccard index of the threshold
//! or more, found by counting common lines.

use std::collections::{HashMap, HashSet};

use crate::harness::float;

/// Lines in more texts than this are not used to look up candidates. Texts that consist mostly of
/// such lines are compared with each other instead.
const COMMON_TEXTS: usize = 400;

/// The line sets of texts.
#[derive(Debug)]
pub struct Sets {
    /// The numbers of the different lines of each text, in order.
    sets: Vec<Vec<u32>>,
    /// The texts that have each line, in order.
    holders: Vec<Vec<u32>>,
}

impl Sets {
    /// Creates the line sets of these texts. White space at the end of a line is ignored.
    pub fn from_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut holders: Vec<Vec<u32>> = Vec::new();
        let mut sets = Vec::new();
        for (text, found) in texts.into_iter().enumerate() {
            let mut set: Vec<_> = lines(found)
                .map(|line| {
                    let next = number(numbers.len());
                    *numbers.entry(line).or_insert(next)
                })
                .collect();
            set.sort_unstable();
            set.dedup();
            holders.resize_with(numbers.len(), Vec::new);
            for line in &set {
                holders[*line as usize].push(number(text));
            }
            sets.push(set);
        }
        Self { sets, holders }
    }

    /// Returns whether the Jaccard index of two texts is at least `percent` hundredths.
    #[must_use]
    pub fn are_near(&self, one: u32, other: u32, percent: usize) -> bool {
        let (one, other) = (&self.sets[one as usize], &self.sets[other as usize]);
        let (mut common, mut ahead) = (0, other.as_slice());
        for line in one {
            let (Ok(before) | Err(before)) = ahead.binary_search(line);
            ahead = &ahead[before..];
            common += usize::from(ahead.first() == Some(line));
        }
        let all = one.len() + other.len() - common;
        all > 0 && common * 100 >= all * percent
    }

    /// Returns whether another text has all lines of a text, in any order.
    #[must_use]
    pub fn is_within(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.sets[one as usize], &self.sets[other as usize]);
        one.iter().all(|line| other.binary_search(line).is_ok())
    }

    /// Returns every pair of near texts, the later text first.
    #[must_use]
    pub fn near_pairs(&self, percent: usize) -> HashSet<(u32, u32)> {
        let is_common = |line: u32| self.holders[line as usize].len() > COMMON_TEXTS;
        let mut pairs = HashSet::new();
        let mut shared: HashSet<u32> = HashSet::new();
        // Texts that common lines alone can make near: at least the threshold's share of their
        // lines is common. Two texts can only be near by common lines if both are like this.
        let mut mostly_common: Vec<u32> = Vec::new();
        for (text, set) in self.sets.iter().enumerate() {
            let text = number(text);
            shared.clear();
            let common = set.iter().filter(|line| is_common(**line)).count();
            for line in set.iter().filter(|line| !is_common(**line)) {
                let earlier = self.holders[*line as usize].iter().take_while(|one| **one < text);
                shared.extend(earlier);
            }
            if common * 100 >= set.len() * percent {
                shared.extend(&mostly_common);
                mostly_common.push(text);
            }
            let near = shared.iter().filter(|one| self.are_near(text, **one, percent));
            pairs.extend(near.map(|one| (text, *one)));
        }
        pairs
    }
}

/// Returns the lines of a text, without white space at their ends.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n').map(str::trim_ascii_end)
}

/// The quality of a list of near pairs, compared with the ground truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// The number of texts that are near an earlier one, and how many of these were found.
    pub texts: (usize, usize),
    /// The number of pairs that are near, and how many of these were found.
    pub pairs: (usize, usize),
    /// The number of pairs that were found, right or wrong.
    pub found: usize,
}

impl Score {
    /// Compares the pairs that were found with those that are near. All have the later text first.
    #[must_use]
    pub fn new(near: &HashSet<(u32, u32)>, found: &HashSet<(u32, u32)>) -> Self {
        let texts = |pairs: &mut dyn Iterator<Item = &(u32, u32)>| {
            pairs.map(|(text, _)| *text).collect::<HashSet<_>>().len()
        };
        let right = || near.iter().filter(|pair| found.contains(pair));
        Self {
            texts: (texts(&mut near.iter()), texts(&mut right())),
            pairs: (near.len(), right().count()),
            found: found.len(),
        }
    }

    /// Returns the percentage of near texts that were found.
    #[must_use]
    pub fn recall(&self) -> f64 {
        percent(self.texts.1, self.texts.0)
    }

    /// Returns the percentage of near pairs that were found.
    #[must_use]
    pub fn recall_of_pairs(&self) -> f64 {
        percent(self.pairs.1, self.pairs.0)
    }

    /// Returns the percentage of found pairs that are near.
    #[must_use]
    pub fn precision(&self) -> f64 {
        percent(self.pairs.1, self.found)
    }

    /// Describes the number of found pairs and the recall of pairs in words.
    #[must_use]
    pub fn summary(&self) -> String {
        let recall = self.recall_of_pairs();
        format!("{} pairs, {recall:.1} % of the {} that are near", self.found, self.pairs.0)
    }
}

fn percent(part: usize, all: usize) -> f64 {
    float(part as u64) * 100.0 / float(all as u64)
}

/// Converts the number of a text or line. There are fewer than 2^32.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
