//! How a budget is spent on segments.

use crate::fixed_point::{BILLION, billionths};

/// How a budget is spent on segments.
///
/// The two budgets choose forms, they never cut one, and they are no limits on
/// the whole: what all others leave lifts the last two segments to full anyway.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetAllocationOptions {
    /// Tokens for the last two segments, half of it for each, before others are
    /// served: a segment that costs more in full begins with the fullest form
    /// that does not, else with its shortest; 2,000 by default.
    pub recent_messages_full_budget: u32,
    /// Tokens for up to three segments with more than two anchors, a third of
    /// it for each, before others are served: a segment that costs more in
    /// detail waits for its later turn; 1,000 by default.
    pub anchor_budget: u32,
    /// The part of what is left that is not spent on lifting segments to full,
    /// the last two aside: from 0 (all is spent) to 1 (nothing is); 0.5 by
    /// default.
    pub compression_aggressiveness: f64,
    /// How many of the newest segments that nothing else speaks for have their
    /// brief form before later segments get a detailed one; 3 by default.
    pub min_segments_at_brief: usize,
}

impl Default for BudgetAllocationOptions {
    fn default() -> Self {
        Self {
            recent_messages_full_budget: 2_000,
            anchor_budget: 1_000,
            compression_aggressiveness: 0.5,
            min_segments_at_brief: 3,
        }
    }
}

impl BudgetAllocationOptions {
    /// What each of the last two may cost at first.
    pub(super) fn recent_cap(&self) -> u32 {
        self.recent_messages_full_budget / 2
    }

    /// What a segment with many anchors may cost at once.
    pub(super) fn anchor_cap(&self) -> u32 {
        self.anchor_budget / 3
    }

    /// The part of what is left that lifts segments, in billionths; `None`
    /// where the aggressiveness is not from 0 to 1.
    pub(super) fn lifting(&self) -> Option<u64> {
        let aggressiveness = self.compression_aggressiveness;
        let valid = (0.0..=1.0).contains(&aggressiveness);
        valid.then(|| BILLION - billionths(aggressiveness))
    }
}
