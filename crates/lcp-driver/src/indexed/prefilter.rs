//! The filter that drops blocks which cannot be selected, so that they need not be candidates (RFC
//! 0003 §7).
//!
//! Allocation makes two passes per priority: first levels with content, then placeholders. A block
//! cannot be shown in the first pass if both of these hold:
//!
//! - Earlier blocks need no more tokens than it to show content.
//! - Together these blocks need more than the budget.
//!
//! At the step that would show the block, each of these blocks could have been paid for as well, so
//! all of them would be shown, which exceeds the budget. The same holds for the second pass with
//! the cheapest levels. The highest cost among the earlier blocks with the lowest needs is the
//! *threshold* of a pass.

use std::collections::BinaryHeap;

use lcp_types::Priority;

use crate::allocate::{Candidate, LINES_FIRST, NAMED_FIRST};

/// The minimum number of candidates of a priority before blocks are dropped. It exceeds the number
/// of first candidates that allocation treats differently.
const CANDIDATES_MIN: usize = if LINES_FIRST > NAMED_FIRST { LINES_FIRST } else { NAMED_FIRST } + 1;

/// A filter of blocks, which are passed in service order within their priority.
pub(super) struct Prefilter {
    tiers: [Tier; Priority::ALL.len()],
    pub(super) passed_over: usize,
}

struct Tier {
    candidates: usize,
    content: Threshold,
    lowest: Threshold,
    /// `true` if a candidate has a cheapest level that exceeds the budget.
    has_hopeless: bool,
}

/// The cheapest candidates, just enough of them to exceed the budget together.
struct Threshold {
    budget: u64,
    /// The need of each candidate, and the minimum that was paid for it once it has that.
    cheapest: BinaryHeap<(u64, u64)>,
    together: u64,
}

impl Prefilter {
    pub(super) fn new(budget: u32) -> Self {
        let threshold =
            || Threshold { budget: budget.into(), cheapest: BinaryHeap::new(), together: 0 };
        let tier = |_| Tier {
            candidates: 0,
            content: threshold(),
            lowest: threshold(),
            has_hopeless: false,
        };
        Self { tiers: Priority::ALL.map(tier), passed_over: 0 }
    }

    /// Returns whether a block may be selected after all earlier ones of its priority.
    pub(super) fn keeps(&mut self, candidate: &Candidate) -> bool {
        let need = Need::from_candidate(candidate);
        let tier = &mut self.tiers[candidate.priority as usize];
        let keeps = !tier.refuses(need);
        if keeps {
            tier.add(need);
        } else {
            self.passed_over += 1;
        }
        keeps
    }

    /// Returns whether a group may be selected; showing one block shows the lines of the others.
    pub(super) fn keeps_group(&mut self, candidates: &[Candidate]) -> bool {
        let Some(first) = candidates.first() else { return true };
        let needs = || candidates.iter().map(Need::from_candidate);
        let lines = needs().map(|need| need.lowest).sum();
        let content = needs().filter_map(|need| Some(need.content? + lines - need.lowest)).min();
        let tier = &self.tiers[first.priority as usize];
        let keeps = !tier.refuses(Need { content, lowest: lines });
        if !keeps {
            self.passed_over += candidates.len();
        }
        keeps
    }
}

/// The tokens that must be paid for something to be shown.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// The tokens for content, if any content can be shown.
    content: Option<u64>,
    /// The tokens for the cheapest level.
    lowest: u64,
}

impl Need {
    fn from_candidate(candidate: &Candidate) -> Self {
        // The cheapest level with content that the ceiling allows. All levels of Background blocks
        // are served in one pass, so they have no separate need for content.
        let content = candidate
            .costs
            .get(candidate.ceiling..candidate.content_levels)
            .and_then(<[u64]>::last);
        let content = content.copied().filter(|_| candidate.priority != Priority::Background);
        Self { content, lowest: candidate.costs[candidate.lowest()] }
    }
}

impl Tier {
    /// Returns whether a block with this need is never shown.
    fn refuses(&self, need: Need) -> bool {
        // A dropped block keeps its tier below the ceiling, and so must one of the candidates that
        // remain.
        let is_below_ceiling = self.lowest.is_exceeded() || self.has_hopeless;
        self.candidates >= CANDIDATES_MIN
            && is_below_ceiling
            && need.content.is_none_or(|content| self.content.is_over(content))
            && self.lowest.is_over(need.lowest)
    }

    fn add(&mut self, need: Need) {
        if let Some(content) = need.content {
            // The first candidates may have got only a placeholder.
            let paid = if self.candidates < NAMED_FIRST { need.lowest } else { content };
            self.content.add(content, paid);
        }
        self.lowest.add(need.lowest, need.lowest);
        self.has_hopeless |= need.lowest > self.lowest.budget;
        self.candidates += 1;
    }
}

impl Threshold {
    /// Returns whether the candidates cost more than the budget.
    fn is_exceeded(&self) -> bool {
        self.together > self.budget
    }

    /// Returns whether a block with this need cannot get it.
    fn is_over(&self, need: u64) -> bool {
        let highest = self.cheapest.peek().filter(|_| self.is_exceeded());
        need > self.budget || highest.is_some_and(|(highest, _)| need >= *highest)
    }

    fn add(&mut self, need: u64, paid: u64) {
        if self.is_over(need) {
            return;
        }
        self.cheapest.push((need, paid));
        self.together += paid;
        // Candidates beyond those that exceed the budget are not needed.
        while let Some((_, paid)) = self.cheapest.peek()
            && self.together - paid > self.budget
        {
            self.together -= paid;
            self.cheapest.pop();
        }
    }
}
