//! Finds, for each text, a kept one that is near: by the rarest lines of its set.
//!
//! Two sets of `n` and `m` lines that are near have at least `t · max(n, m)` lines in
//! common, so that both have one of them among their first `n − ⌈t n⌉ + 1`. Only those
//! are looked up.

use std::cmp::Reverse;

use super::delta::{Diff, diff};
use super::index::{Index, Posting};
use super::sets::{Sets, number};
use super::verify::{Scan, contained};

/// Diffs that are made for a text, against the nearest ones: the nearest by its lines
/// may differ in the white space of all of them.
const DIFFS_MAX: usize = 3;

/// A text that may cover others. The best ranked stands first in the slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'t> {
    pub(crate) bytes: &'t [u8],
    /// White space has meaning: lines are compared as they are.
    pub(crate) exact: bool,
    /// Never covered itself.
    pub(crate) fixed: bool,
}

/// How alike is near, and how much work may be done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Jaccard index of two sets of lines from which on they are near, 0.5 to 1. Taken
    /// to the nearest thousandth, so that whole numbers decide.
    pub(crate) threshold: f64,
    /// Kept texts that are remembered for a line.
    pub(crate) postings_max: usize,
    /// Kept texts that a text is compared with.
    pub(crate) verifications_max: usize,
}

/// What covers a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Every line stands, in order, in text `by`.
    Contained { by: usize },
    /// `hunks` make the text of text `by`.
    Delta { by: usize, hunks: Vec<u8> },
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Joined {
    /// One a text. What covers is kept: nothing covers it.
    pub(crate) found: Vec<Option<Found>>,
    /// Texts, in order, that are kept but for which a bound was met: something may
    /// cover them.
    pub(crate) capped: Vec<usize>,
    /// Texts, in order, that are kept though they are near another one, and that.
    pub(crate) alike: Vec<(usize, usize)>,
}

/// Finds what covers each of `texts`. `accept(text, by, hunks)` says whether hunks may
/// stand in the place of a text that is near `by` and not contained in it; it is asked
/// [`DIFFS_MAX`] times a text at most. Texts of white space alone and texts with fewer than two
/// different lines are left alone.
pub(crate) fn join(
    texts: &[Text<'_>],
    terms: &Terms,
    accept: &mut dyn FnMut(usize, usize, &[u8]) -> bool,
) -> Joined {
    run(texts, terms, accept).0
}

/// What was done, for tests of the bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effort {
    /// Texts that a text was compared with.
    pub(super) compared: usize,
    /// Lines that were looked at to see whether one contains the other.
    pub(super) scanned: usize,
    /// Diffs that were made, or begun.
    pub(super) diffs: usize,
}

pub(super) fn run(
    texts: &[Text<'_>],
    terms: &Terms,
    accept: &mut dyn FnMut(usize, usize, &[u8]) -> bool,
) -> (Joined, Effort) {
    let sets = Sets::new(texts);
    let near = Ratio::new(terms.threshold);
    let index = Index::new(&sets, texts.len(), terms.postings_max, |n| near.prefix(n));
    let mut join = Join {
        texts,
        sets,
        near,
        index,
        verifications_max: terms.verifications_max,
        common: vec![0; texts.len()],
        candidates: Vec::new(),
        effort: Effort::default(),
    };
    let mut joined = Joined::default();
    for (at, text) in texts.iter().enumerate() {
        let mut bound = at >= join.sets.looked_at;
        let mut alike = None;
        let found = if text.fixed { None } else { join.find(at, &mut bound, &mut alike, accept) };
        if found.is_none() {
            join.keep(at);
            joined.alike.extend(alike.map(|other| (at, other)));
            if bound && !text.fixed {
                joined.capped.push(at);
            }
        }
        joined.found.push(found);
    }
    (joined, join.effort)
}

/// The threshold as thousandths.
#[derive(Clone, Copy)]
struct Ratio(usize);

impl Ratio {
    const ONE: usize = 1000;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 500 to 1000")]
    fn new(threshold: f64) -> Self {
        // What is not a number finds the least.
        let threshold = if threshold.is_nan() { 1.0 } else { threshold.clamp(0.5, 1.0) };
        Self((threshold * 1000.0).round() as usize)
    }

    /// How many of the rarest lines of a set of `n` are looked up.
    fn prefix(self, n: usize) -> usize {
        if n == 0 { 0 } else { n - (n * self.0).div_ceil(Self::ONE) + 1 }
    }

    /// How many lines sets of `n` and `m` that are near have in common, at least.
    fn common(self, n: usize, m: usize) -> usize {
        ((n + m) * self.0).div_ceil(Self::ONE + self.0)
    }

    /// Whether sets of `n` and `m` can be near.
    fn sizes(self, n: usize, m: usize) -> bool {
        n.min(m) * Self::ONE >= n.max(m) * self.0
    }
}

/// A kept text that is near.
struct Near {
    text: usize,
    common: usize,
    union: usize,
}

struct Join<'t> {
    texts: &'t [Text<'t>],
    sets: Sets<'t>,
    near: Ratio,
    index: Index,
    verifications_max: usize,
    /// For each text, how many of the lines that are looked up it shares with the one
    /// at hand. All 0 between two texts.
    common: Vec<u32>,
    candidates: Vec<u32>,
    effort: Effort,
}

/// In [`Join::common`]: a text that cannot be near.
const OUT: u32 = u32::MAX;

impl Join<'_> {
    fn find(
        &mut self,
        text: usize,
        bound: &mut bool,
        alike: &mut Option<usize>,
        accept: &mut dyn FnMut(usize, usize, &[u8]) -> bool,
    ) -> Option<Found> {
        self.look_up(text, bound);
        let near = self.compare(text);
        *alike = near.first().map(|near| near.text);
        if let Some(by) = self.container(text, &near, bound) {
            return Some(Found::Contained { by });
        }
        for Near { text: by, .. } in near.iter().take(DIFFS_MAX) {
            self.effort.diffs += 1;
            match diff(self.texts[*by].bytes, self.texts[text].bytes) {
                Diff::Hunks(hunks) if accept(text, *by, &hunks) => {
                    return Some(Found::Delta { by: *by, hunks });
                }
                Diff::Hunks(_) | Diff::TooLong => {}
                Diff::Bound => *bound = true,
            }
        }
        None
    }

    /// Collects the kept texts that share one of the rarest lines and may be near.
    fn look_up(&mut self, text: usize, bound: &mut bool) {
        let set = self.sets.set(text);
        let n = set.len();
        self.candidates.clear();
        for (position, line) in set[..self.near.prefix(n)].iter().enumerate() {
            let (postings, truncated) = self.index.at(*line);
            *bound |= truncated;
            for posting in postings {
                let m = posting.size as usize;
                let common = &mut self.common[posting.text as usize];
                if *common == OUT || !self.near.sizes(n, m) {
                    continue;
                }
                if *common == 0 {
                    self.candidates.push(posting.text);
                }
                // This line, those before it, and no more than stand behind it.
                let behind = (n - position).min(m - posting.position as usize);
                let most = *common as usize + behind;
                *common = if most < self.near.common(n, m) { OUT } else { *common + 1 };
            }
        }
        let shared = &mut self.common;
        self.candidates.retain(|candidate| {
            let keep = shared[*candidate as usize] != OUT;
            if !keep {
                shared[*candidate as usize] = 0;
            }
            keep
        });
        let most = self.verifications_max;
        if self.candidates.len() > most {
            *bound = true;
            // Those that share most of the rarest lines, then the best ranked.
            let order = |candidate: &u32| (Reverse(shared[*candidate as usize]), *candidate);
            self.candidates.select_nth_unstable_by_key(most, order);
            for candidate in self.candidates.drain(most..) {
                shared[candidate as usize] = 0;
            }
        }
        for candidate in &self.candidates {
            shared[*candidate as usize] = 0;
        }
    }

    /// The candidates that are near, the nearest first, then the best ranked.
    fn compare(&mut self, text: usize) -> Vec<Near> {
        let set = self.sets.set(text);
        let mut near = Vec::new();
        for candidate in &self.candidates {
            self.effort.compared += 1;
            let kept = self.sets.set(*candidate as usize);
            let least = self.near.common(set.len(), kept.len());
            if let Some(common) = common(set, kept, least) {
                let union = set.len() + kept.len() - common;
                near.push(Near { text: *candidate as usize, common, union });
            }
        }
        let fraction = |a: &Near, b: &Near| a.common as u128 * b.union as u128;
        near.sort_unstable_by(|a, b| fraction(b, a).cmp(&fraction(a, b)).then(a.text.cmp(&b.text)));
        near
    }

    /// The first of `near` that contains the text.
    fn container(&mut self, text: usize, near: &[Near], bound: &mut bool) -> Option<usize> {
        let exact = self.texts[text].exact;
        let n = self.sets.set(text).len();
        // As many as that many texts of about the same length have. A text of few
        // different lines can be near one with millions of lines.
        let lines = self.sets.places(text).len();
        let most = self.verifications_max.saturating_mul(2 * lines + 64);
        let mut left = most;
        let by = near.iter().find(|near| {
            let alike = exact == self.texts[near.text].exact;
            // Lines that are the same have the same number, where they were
            // compared in the same way.
            if alike && near.common < n {
                return false;
            }
            let scan = contained(&self.sets, text, near.text, alike, &mut left);
            *bound |= scan == Scan::Bound;
            scan == Scan::Contained
        });
        self.effort.scanned += most - left;
        by.map(|near| near.text)
    }

    /// Makes the text one that may cover others.
    fn keep(&mut self, text: usize) {
        let set = self.sets.set(text);
        for (position, line) in set[..self.near.prefix(set.len())].iter().enumerate() {
            let [text, size, position] = [text, set.len(), position].map(number);
            self.index.add(*line, Posting { text, size, position });
        }
    }
}

/// How many numbers two ordered sets have in common; `None` if fewer than `least`.
fn common(mut a: &[u32], mut b: &[u32], least: usize) -> Option<usize> {
    let mut common = 0;
    while let ([first, ..], [other, ..]) = (a, b) {
        if common + a.len().min(b.len()) < least {
            return None;
        }
        common += usize::from(first == other);
        let (taken, other_taken) = (usize::from(first <= other), usize::from(other <= first));
        (a, b) = (&a[taken..], &b[other_taken..]);
    }
    (common >= least).then_some(common)
}
