//! The ground truth of near texts: pairs of line sets with a Jaccard index of the threshold or
//! more, by counting common lines.

use std::collections::{HashMap, HashSet};

use crate::harness::float;

/// Lines that more texts have are not looked up: they alone make nothing near.
const COMMON_TEXTS: usize = 400;

/// The sets of lines of texts.
#[derive(Debug)]
pub struct Sets {
    /// The numbers of the lines of each text, in order.
    sets: Vec<Vec<u32>>,
    /// The texts that have a line.
    holders: Vec<Vec<u32>>,
}

impl Sets {
    /// Those of these texts. White space at the end of a line does not count.
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

    /// Returns whether the Jaccard index of two sets is at least `percent` hundredths.
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

    /// Whether all lines of a text stand in another one, in whatever order.
    #[must_use]
    pub fn is_within(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.sets[one as usize], &self.sets[other as usize]);
        one.iter().all(|line| other.binary_search(line).is_ok())
    }

    /// Every pair that is near, the later text first.
    #[must_use]
    pub fn near_pairs(&self, percent: usize) -> HashSet<(u32, u32)> {
        let is_common = |line: u32| self.holders[line as usize].len() > COMMON_TEXTS;
        let mut pairs = HashSet::new();
        let mut shared: HashSet<u32> = HashSet::new();
        // Texts that common lines alone can make near: of the larger set, the
        // threshold's part must be common to both.
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

/// The lines of a text as they are compared.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_terminator('\n').map(str::trim_ascii_end)
}

/// How many of what is really near was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Texts that are near an earlier one; of them, those that were found.
    pub texts: (usize, usize),
    /// Pairs that are near; of them, those that were found.
    pub pairs: (usize, usize),
    /// Pairs that were found.
    pub found: usize,
}

impl Score {
    /// What these pairs, the later text first, come to.
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

    /// Percent of the texts.
    #[must_use]
    pub fn recall(&self) -> f64 {
        percent(self.texts.1, self.texts.0)
    }

    /// Percent of the pairs that are near.
    #[must_use]
    pub fn recall_of_pairs(&self) -> f64 {
        percent(self.pairs.1, self.pairs.0)
    }

    /// Percent of the pairs that were found.
    #[must_use]
    pub fn precision(&self) -> f64 {
        percent(self.pairs.1, self.found)
    }

    /// In words, what the percentages do not say.
    #[must_use]
    pub fn summary(&self) -> String {
        let recall = self.recall_of_pairs();
        format!("{} pairs, {recall:.1} % of the {} that are near", self.found, self.pairs.0)
    }
}

fn percent(part: usize, all: usize) -> f64 {
    float(part as u64) * 100.0 / float(all as u64)
}

/// Fewer than 2^32 texts and lines.
fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
