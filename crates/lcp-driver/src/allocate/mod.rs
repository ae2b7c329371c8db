//! The choice of a detail level for each block, from the costs of the levels.
//!
//! `tiers.rs` serves priorities in order (RFC 0002 §4). `knapsack/` maximizes value (RFC 0005 §3).
//! Both spend from the ledger in `ledger.rs`, which handles shares (RFC 0004 §3.1) and groups. This
//! module works on numbers alone, not on texts or blocks, so the tests can use any numbers.

pub(crate) mod knapsack;
mod ledger;
mod passages;
#[cfg(test)]
mod tests;
mod tiers;

use lcp_types::Priority;

use crate::detail::LEVELS;
use crate::excerpt::{ExcerptKey, PassageCosts};
pub(crate) use ledger::BudgetLedger;
pub(crate) use tiers::{LINES_FIRST, NAMED_FIRST, allocate_tiers};

/// A block that can be shown.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) priority: Priority,
    /// Higher ranks come first within a priority, candidates without one last.
    pub(crate) rank: Option<f64>,
    /// The costs of its levels, fullest first, strictly decreasing, never empty.
    pub(crate) costs: PerLevel,
    /// The fullest level that it may have at first, as an index into `costs`.
    pub(crate) ceiling: usize,
    /// The number of its levels that show content: all but a placeholder.
    pub(crate) content_levels: usize,
    /// `true` if it may be shown in full once all others have their ceiling: a Low block without a
    /// summary.
    pub(crate) may_grow: bool,
    pub(crate) may_be_cut: bool,
    /// `true` if its excerpts are made of passages, unless its content does not allow that.
    pub(crate) has_passages: bool,
    /// Its share, as an index into [`AllocationInput::shares`].
    pub(crate) share: usize,
    /// Its group, as an index into [`AllocationInput::groups`].
    pub(crate) group: Option<usize>,
    pub(crate) eligibility: Eligibility,
}

/// The way in which a candidate takes part in the allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Eligibility {
    #[default]
    Competes,
    /// The candidate is shown as in the previous text, which is its only level.
    Frozen,
    /// The previous text has no part for the candidate, and the new text gets no part for it
    /// either.
    Excluded,
}

/// A number for each level of a candidate, fullest first. The numbers are stored inline, because
/// they are read often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerLevel {
    numbers: [u64; LEVELS],
    len: usize,
}

impl FromIterator<u64> for PerLevel {
    /// Takes the first [`LEVELS`] numbers.
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut levels = Self::default();
        for (slot, number) in levels.numbers.iter_mut().zip(numbers) {
            *slot = number;
            levels.len += 1;
        }
        levels
    }
}

impl std::ops::Deref for PerLevel {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.numbers[..self.len]
    }
}

impl Candidate {
    /// Returns whether a lack of tokens gives the candidate less detail than it may have.
    /// `waits` is `true` while candidates may not exceed their ceilings.
    pub(crate) fn is_cut(&self, selection: Option<Selection>, waits: bool) -> bool {
        match selection {
            Some(Selection::Level(0)) => false,
            Some(Selection::Level(level)) if level <= self.ceiling => self.may_grow && !waits,
            _ => true,
        }
    }

    pub(crate) fn lowest(&self) -> usize {
        self.costs.len() - 1
    }

    /// Returns whether its first level is paid before others compete.
    pub(crate) fn is_fixed(&self) -> bool {
        self.eligibility == Eligibility::Frozen
            || self.eligibility == Eligibility::Competes && self.priority == Priority::Critical
    }

    pub(crate) fn fixed_selection(&self) -> Option<Selection> {
        self.is_fixed().then_some(Selection::Level(0))
    }

    /// Returns whether a text must show it or count it in the roll-up line.
    pub(crate) fn needs_mention(&self) -> bool {
        !self.is_fixed() && self.priority != Priority::Background
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ShareLimits {
    pub(crate) own: u32,
    /// The weight of the share when unused tokens are lent.
    pub(crate) weight: u32,
    /// The maximum tokens of the share; `u64::MAX` without a cap.
    pub(crate) cap: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocationInput<'a> {
    pub(crate) candidates: &'a [Candidate],
    pub(crate) budget: u64,
    pub(crate) envelope: u64,
    /// The maximum cost of the roll-up line.
    pub(crate) line: u64,
    /// `true` if Background blocks get leftover tokens even if others are below their ceilings.
    pub(crate) fill: bool,
    /// The shares of the budget; empty if all candidates compete for the whole budget.
    pub(crate) shares: &'a [ShareLimits],
    pub(crate) excerpts: bool,
    /// Candidates that are shown together or not at all (RFC 0005 §5.2).
    pub(crate) groups: &'a [Vec<usize>],
    /// The candidate that is served before all others except the fixed ones.
    pub(crate) first: Option<usize>,
}

impl AllocationInput<'_> {
    /// Returns the candidates from High to Low: by priority, then rank, then position.
    pub(crate) fn service_order(&self) -> Vec<usize> {
        let tiers = [Priority::High, Priority::Normal, Priority::Low];
        tiers.into_iter().flat_map(|priority| self.by_rank(priority)).collect()
    }

    /// Returns the candidates of a priority, in the order in which they are served.
    fn by_rank(&self, priority: Priority) -> Vec<usize> {
        let candidates = self.candidates;
        let competes = |i: &usize| {
            let candidate = &candidates[*i];
            candidate.eligibility == Eligibility::Competes && candidate.priority == priority
        };
        let mut order: Vec<usize> = (0..candidates.len()).filter(competes).collect();
        if order.iter().any(|&i| candidates[i].rank.is_some()) {
            let rank = |i: usize| candidates[i].rank.unwrap_or(f64::NEG_INFINITY);
            order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
        }
        order
    }

    fn fixed_selections(&self) -> Vec<Option<Selection>> {
        self.candidates.iter().map(Candidate::fixed_selection).collect()
    }

    fn fixed_only(&self, outcome: Outcome, at_ceiling: bool) -> Allocation {
        Allocation {
            chosen: self.fixed_selections(),
            outcome,
            at_ceiling,
            left: self.budget.saturating_sub(self.envelope + fixed_tokens(self.candidates)),
        }
    }
}

pub(crate) trait Excerpter {
    /// Returns the cost of an excerpt of candidate `i` with at most `most` tokens, if there is one.
    fn excerpt_cost(&mut self, i: usize, most: u64) -> Option<u64>;

    /// Returns the approximate costs of the passages of candidate `i`; empty if its content does
    /// not allow excerpts of passages.
    fn passages(&mut self, _i: usize) -> PassageCosts {
        PassageCosts::default()
    }

    /// Makes the excerpt of candidate `i` that shows these of its passages, by ascending indices.
    /// Returns its key and its cost, or `None` if it would omit nothing.
    fn show_passages(&mut self, _i: usize, _shown: &[usize]) -> Option<(ExcerptKey, u64)> {
        None
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    /// A level, as an index into the costs of the candidate.
    Level(usize),
    Excerpt {
        key: ExcerptKey,
        cost: u64,
    },
}

impl Selection {
    pub(crate) fn cost(self, candidate: &Candidate) -> u64 {
        match self {
            Self::Level(level) => candidate.costs[level],
            Self::Excerpt { cost, .. } => cost,
        }
    }

    pub(crate) fn level(self) -> Option<usize> {
        match self {
            Self::Level(level) => Some(level),
            Self::Excerpt { .. } => None,
        }
    }

    pub(crate) fn has_content(self, candidate: &Candidate) -> bool {
        match self {
            Self::Level(level) => level < candidate.content_levels,
            Self::Excerpt { .. } => true,
        }
    }

    /// Returns whether it is the candidate's ceiling or fuller.
    pub(crate) fn is_at_ceiling(self, candidate: &Candidate) -> bool {
        matches!(self, Self::Level(level) if level <= candidate.ceiling)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// The selection for each candidate; `None` if it has no part of its own.
    pub(crate) chosen: Vec<Option<Selection>>,
    pub(crate) outcome: Outcome,
    /// `true` if every competing candidate above Background has its ceiling, except for those that
    /// only a cap limits.
    pub(crate) at_ceiling: bool,
    /// The tokens left of the budget, after the roll-up line if it was reserved.
    pub(crate) left: u64,
}

impl Allocation {
    /// Returns the tokens of all parts that show content.
    pub(crate) fn shown_tokens(&self, candidates: &[Candidate]) -> u64 {
        let shown = |(chosen, candidate): (&Option<Selection>, &Candidate)| {
            let chosen = chosen.filter(|selection| selection.has_content(candidate))?;
            Some(chosen.cost(candidate))
        };
        self.chosen.iter().zip(candidates).filter_map(shown).sum()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Fits,
    /// The roll-up line does not fit together with the Critical blocks, so only those are shown.
    BelowFloor,
    /// The Critical blocks alone exceed the budget; only they are shown.
    CriticalExceeds {
        /// Tokens of the Critical blocks and the envelope.
        needed: u64,
    },
}

pub(crate) fn fixed_tokens(candidates: &[Candidate]) -> u64 {
    let fixed = candidates.iter().filter(|candidate| candidate.is_fixed());
    fixed.map(|candidate| candidate.costs[0]).sum()
}
