//! A set-similarity join with a prefix filter. For each text, it finds a better ranked text that is
//! near, by the rarest lines of its set.
//!
//! If two sets of `n` and `m` lines are near, they have at least `t · max(n, m)` common lines,
//! where `t` is the threshold. Therefore one of the first `n − ⌈t n⌉ + 1` lines of each set is
//! common. Only these lines are looked up.
//!
//! Texts are compared in two forms, so that texts that differ in white space and comments of many
//! lines are found too.

use std::cmp::Reverse;

use super::changes::{Changes, Comparison, compare};
use super::line_sets::{Document, Form, LineSets, Scan, number};

/// The maximum number of diffs for a text in each form, against the nearest texts. The nearest text
/// may differ in the white space of all lines.
const DIFFS_MAX: usize = 3;

/// The similarity threshold and the limits of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JoinLimits {
    /// The minimum Jaccard index of two near sets of lines, from 0.5 to 1. It is rounded to the
    /// nearest thousandth, so that the comparison uses integers.
    pub(crate) threshold: f64,
    /// The maximum number of texts to index per line.
    pub(crate) postings_max: usize,
    /// The maximum number of texts to compare with a text.
    pub(crate) verifications_max: usize,
}

/// The cover of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Text `by` has every line, in order.
    Contained { by: usize },
    /// `changes` convert text `by` to the text.
    Changed { by: usize, changes: Changes },
}

/// The result of a join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Matches {
    /// One entry for each text. A text that covers another one is never covered itself.
    pub(crate) covers: Vec<Option<Match>>,
    /// The texts for which a limit was reached before a cover was found, in order. They may have
    /// one.
    pub(crate) capped: Vec<usize>,
    /// Pairs of a text that remains and a near text, in order.
    pub(crate) alike: Vec<(usize, usize)>,
}

/// Finds a cover for each of `texts`. `accept(text, by, changes)` returns whether the changes may
/// replace a text that is near `by` and not contained in it. It is called at most [`DIFFS_MAX`]
/// times per text and form. Texts with fewer than two different lines and texts of white space have no
/// covers.
pub(crate) fn join(
    texts: &[Document<'_>],
    limits: &JoinLimits,
    accept: &mut dyn FnMut(usize, usize, &Changes) -> bool,
) -> Matches {
    run(texts, limits, accept).0
}

/// Counters for tests of the limits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stats {
    /// Compared pairs of texts.
    pub(super) compared: usize,
    /// Lines that were compared to detect containment.
    pub(super) scanned: usize,
    /// Diffs that were started.
    pub(super) diffs: usize,
}

impl Stats {
    const fn add(self, other: Self) -> Self {
        Self {
            compared: self.compared + other.compared,
            scanned: self.scanned + other.scanned,
            diffs: self.diffs + other.diffs,
        }
    }
}

pub(super) fn run(
    texts: &[Document<'_>],
    limits: &JoinLimits,
    accept: &mut dyn FnMut(usize, usize, &Changes) -> bool,
) -> (Matches, Stats) {
    let mut joins = Form::ALL.map(|form| SimilarityJoin::new(texts, form, limits));
    let mut matches = Matches::default();
    for (at, text) in texts.iter().enumerate() {
        let mut bound = false;
        let mut near = Vec::new();
        let found = joins
            .iter_mut()
            .filter(|_| !text.fixed)
            .find_map(|join| join.find(at, &mut bound, &mut near, accept));
        if found.is_none() {
            for join in &mut joins {
                join.add(at);
            }
            matches.alike.extend(near.first().map(|other| (at, *other)));
            if bound {
                matches.capped.push(at);
            }
        }
        matches.covers.push(found);
    }
    let stats = joins.map(|join| join.stats);
    (matches, stats.into_iter().fold(Stats::default(), Stats::add))
}

/// The threshold as thousandths.
#[derive(Clone, Copy)]
struct Ratio(usize);

impl Ratio {
    const ONE: usize = 1000;

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 500 to 1000")]
    fn new(threshold: f64) -> Self {
        // NaN counts as the strictest threshold.
        let threshold = if threshold.is_nan() { 1.0 } else { threshold.clamp(0.5, 1.0) };
        Self((threshold * 1000.0).round() as usize)
    }

    /// Returns the number of lines to look up of a set of `n` lines, beginning with the rarest.
    fn prefix(self, n: usize) -> usize {
        if n == 0 { 0 } else { n - (n * self.0).div_ceil(Self::ONE) + 1 }
    }

    /// Returns the minimum number of common lines of near sets of `n` and `m` lines.
    fn common(self, n: usize, m: usize) -> usize {
        ((n + m) * self.0).div_ceil(Self::ONE + self.0)
    }

    /// Returns whether sets of `n` and `m` lines can be near.
    fn sizes(self, n: usize, m: usize) -> bool {
        n.min(m) * Self::ONE >= n.max(m) * self.0
    }
}

/// A near text.
struct NearDocument {
    text: usize,
    common: usize,
    union: usize,
}

struct SimilarityJoin<'t> {
    texts: &'t [Document<'t>],
    sets: LineSets<'t>,
    near: Ratio,
    index: Index,
    verifications_max: usize,
    /// For each text, the number of looked-up lines that it shares with the current text. All
    /// entries are 0 between two texts.
    common: Vec<u32>,
    candidates: Vec<u32>,
    stats: Stats,
}

/// The entry in [`SimilarityJoin::common`] of a text that cannot be near.
const OUT: u32 = u32::MAX;

impl<'t> SimilarityJoin<'t> {
    fn new(texts: &'t [Document<'t>], form: Form, limits: &JoinLimits) -> Self {
        let sets = LineSets::new(texts, form);
        let near = Ratio::new(limits.threshold);
        let index = Index::new(&sets, texts.len(), limits.postings_max, |n| near.prefix(n));
        Self {
            texts,
            sets,
            near,
            index,
            verifications_max: limits.verifications_max,
            common: vec![0; texts.len()],
            candidates: Vec::new(),
            stats: Stats::default(),
        }
    }

    /// Finds a cover of a text. `tried` has the near texts that were compared in another form, and
    /// receives those of this form. Sets `bound` if a limit is reached.
    fn find(
        &mut self,
        text: usize,
        bound: &mut bool,
        tried: &mut Vec<usize>,
        accept: &mut dyn FnMut(usize, usize, &Changes) -> bool,
    ) -> Option<Match> {
        *bound |= text >= self.sets.read_count;
        self.look_up(text, bound);
        let mut near = self.compare(text);
        near.retain(|near| !tried.contains(&near.text));
        tried.extend(near.iter().map(|near| near.text));
        if let Some(by) = self.container(text, &near, bound) {
            return Some(Match::Contained { by });
        }
        for NearDocument { text: by, .. } in near.iter().take(DIFFS_MAX) {
            self.stats.diffs += 1;
            match compare(self.texts[*by].bytes, self.texts[text].bytes) {
                Comparison::Changes(changes) if accept(text, *by, &changes) => {
                    return Some(Match::Changed { by: *by, changes });
                }
                Comparison::Changes(_) | Comparison::TooLong => {}
                Comparison::Bound => *bound = true,
            }
        }
        None
    }

    /// Collects the texts that share one of the rarest lines and may be near.
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
                // The common lines are at most this line, the common lines before it, and the lines
                // after it.
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
            // Prefer the texts that share the most of the rarest lines, then the best ranked.
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

    /// Returns the candidates that are near, the nearest first, then the best ranked.
    fn compare(&mut self, text: usize) -> Vec<NearDocument> {
        let set = self.sets.set(text);
        let mut near = Vec::new();
        for candidate in &self.candidates {
            self.stats.compared += 1;
            let kept = self.sets.set(*candidate as usize);
            let least = self.near.common(set.len(), kept.len());
            if let Some(common) = common(set, kept, least) {
                let union = set.len() + kept.len() - common;
                near.push(NearDocument { text: *candidate as usize, common, union });
            }
        }
        let fraction = |a: &NearDocument, b: &NearDocument| a.common as u128 * b.union as u128;
        near.sort_unstable_by(|a, b| fraction(b, a).cmp(&fraction(a, b)).then(a.text.cmp(&b.text)));
        near
    }

    /// Returns the first of `near` that contains the text.
    fn container(&mut self, text: usize, near: &[NearDocument], bound: &mut bool) -> Option<usize> {
        let n = self.sets.set(text).len();
        // This allows for the lines of `verifications_max` texts of similar length. It is a limit
        // because a text with few different lines can be near one with millions of lines.
        let lines = self.sets.places(text).len();
        let most = self.verifications_max.saturating_mul(2 * lines + 64);
        let mut left = most;
        let by = near.iter().find(|near| {
            // Equal lines have the same number if they were compared in the same way.
            if near.common < n && self.sets.has_same_keys(near.text, text) {
                return false;
            }
            let scan = self.sets.contains(near.text, text, &mut left);
            *bound |= scan == Scan::Bound;
            scan == Scan::Contained
        });
        self.stats.scanned += most - left;
        by.map(|near| near.text)
    }

    /// Adds the text to the index, so that it can cover others.
    fn add(&mut self, text: usize) {
        let set = self.sets.set(text);
        for (position, line) in set[..self.near.prefix(set.len())].iter().enumerate() {
            let [text, size, position] = [text, set.len(), position].map(number);
            self.index.add(*line, Posting { text, size, position });
        }
    }
}

/// Counts the common numbers of two sorted sets. Returns `None` if there are fewer than `least`.
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

/// An entry of a posting list: a text that has the line among its rarest lines.
#[derive(Clone, Copy, Default)]
struct Posting {
    text: u32,
    /// The size of its set.
    size: u32,
    /// The position of the line in its set.
    position: u32,
}

/// The posting list of each line, in one array. The lists have a bounded length.
struct Index {
    shared: u32,
    starts: Vec<usize>,
    used: Vec<u32>,
    postings: Vec<Posting>,
}

impl Index {
    /// Creates an empty index. `prefix` returns the number of lines of a set that are looked up,
    /// and `most` is the maximum number of texts per line.
    fn new(
        sets: &LineSets<'_>,
        texts: usize,
        most: usize,
        prefix: impl Fn(usize) -> usize,
    ) -> Self {
        // Lines that are in only one text are not indexed.
        let mut times = vec![0_usize; (sets.numbers - sets.shared) as usize];
        for text in 0..texts {
            let set = sets.set(text);
            for line in set[..prefix(set.len())].iter().filter(|line| **line >= sets.shared) {
                times[(line - sets.shared) as usize] += 1;
            }
        }
        let mut starts = Vec::with_capacity(times.len() + 1);
        let mut next = 0;
        for times in &times {
            starts.push(next);
            next += (*times).min(most);
        }
        starts.push(next);
        Self {
            shared: sets.shared,
            used: vec![0; times.len()],
            starts,
            postings: vec![Posting::default(); next],
        }
    }

    /// Returns the texts of a line, and whether the list is incomplete.
    fn at(&self, line: u32) -> (&[Posting], bool) {
        let Some(line) = line.checked_sub(self.shared) else { return (&[], false) };
        let line = line as usize;
        let places = &self.postings[self.starts[line]..self.starts[line + 1]];
        match places.get(..self.used[line] as usize) {
            Some(used) => (used, false),
            None => (places, true),
        }
    }

    /// Adds a text to a line, unless the list is full.
    fn add(&mut self, line: u32, posting: Posting) {
        let Some(line) = line.checked_sub(self.shared) else { return };
        let line = line as usize;
        let places = &mut self.postings[self.starts[line]..self.starts[line + 1]];
        let used = self.used[line] as usize;
        if let Some(place) = places.get_mut(used) {
            *place = posting;
        }
        // One more than the capacity marks an incomplete list.
        if used <= places.len() {
            self.used[line] += 1;
        }
    }
}
