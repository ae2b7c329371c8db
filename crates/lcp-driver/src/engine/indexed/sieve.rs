//! Which blocks cannot be shown whatever the walk does, so that they need not be
//! walked (RFC 0003 §7).
//!
//! A walk serves a tier twice: what tells something, then mere lines. A block is
//! not shown in the first pass if blocks before it need no more than it to tell
//! something, and all of them together more than the budget: at the step that
//! would show it each of them could have paid for that much, so all would be
//! shown. It is not shown in the second pass if the same holds of other blocks
//! before it and the cheapest that they have. Of what is needed for either, the
//! highest cost among the blocks that need the least is the *bar*.

use std::collections::BinaryHeap;

use lcp_types::Priority;

use crate::budget::walk::{Item, LINES_FIRST, NAMED_FIRST};

/// Blocks of a priority that must be kept before others are passed over: more than
/// a walk treats in another way because they are few, or first.
const KEPT_MIN: usize = if LINES_FIRST > NAMED_FIRST { LINES_FIRST } else { NAMED_FIRST } + 1;

/// Passes blocks over, given in the order of the walk within their priority.
pub(super) struct Sieve {
    tiers: [Tier; Priority::ALL.len()],
    /// How many were passed over.
    pub(super) passed_over: usize,
}

/// Blocks of one priority.
struct Tier {
    kept: usize,
    telling: Bar,
    lowest: Bar,
    /// Whether one was kept that not even its cheapest detail fits.
    has_hopeless: bool,
}

/// The blocks that need the least, of those that were kept, as many as exceed the
/// budget together.
struct Bar {
    budget: u64,
    /// What each needs, and what it has paid at least once it has that.
    cheapest: BinaryHeap<(u64, u64)>,
    together: u64,
}

impl Sieve {
    pub(super) fn new(budget: u32) -> Self {
        let bar = || Bar { budget: budget.into(), cheapest: BinaryHeap::new(), together: 0 };
        let tier = |_| Tier { kept: 0, telling: bar(), lowest: bar(), has_hopeless: false };
        Self { tiers: Priority::ALL.map(tier), passed_over: 0 }
    }

    /// Whether a block must be walked that competes without rank and group
    /// behind all others of its priority that were asked about.
    pub(super) fn keeps(&mut self, item: &Item) -> bool {
        let keeps = self.tiers[item.priority as usize].keeps(item);
        self.passed_over += usize::from(!keeps);
        keeps
    }
}

impl Tier {
    fn keeps(&mut self, item: &Item) -> bool {
        let lowest = item.costs[item.lowest()];
        // The cheapest that tells something and is not above the ceiling. The
        // details of Background blocks are all served at once.
        let telling = item.costs.get(item.ceiling..item.telling).and_then(<[u64]>::last);
        let telling = telling.copied().filter(|_| item.priority != Priority::Background);
        // What is passed over keeps its tier below its ceiling: so does one of these.
        let is_below_ceiling = self.lowest.is_exceeded() || self.has_hopeless;
        let is_out = telling.is_none_or(|telling| self.telling.is_over(telling))
            && self.lowest.is_over(lowest);
        if self.kept >= KEPT_MIN && is_below_ceiling && is_out {
            return false;
        }
        if let Some(telling) = telling {
            // The first may have taken a mere line.
            let paid = if self.kept < NAMED_FIRST { lowest } else { telling };
            self.telling.add(telling, paid);
        }
        self.lowest.add(lowest, lowest);
        self.has_hopeless |= lowest > self.lowest.budget;
        self.kept += 1;
        true
    }
}

impl Bar {
    /// Whether the blocks cost more than the budget.
    fn is_exceeded(&self) -> bool {
        self.together > self.budget
    }

    /// Whether a block that needs this is refused it.
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
        // Only as many as it takes.
        while let Some((_, paid)) = self.cheapest.peek()
            && self.together - paid > self.budget
        {
            self.together -= paid;
            self.cheapest.pop();
        }
    }
}
