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
        let need = Need::of(item);
        let tier = &mut self.tiers[item.priority as usize];
        let keeps = !tier.refuses(need);
        if keeps {
            tier.add(need);
        } else {
            self.passed_over += 1;
        }
        keeps
    }

    /// Whether a group of blocks without ranks must be walked, the first of which
    /// stands behind all others of its priority that were asked about. Whoever is
    /// shown brings the lines of the others along.
    pub(super) fn keeps_group(&mut self, items: &[Item]) -> bool {
        let Some(first) = items.first() else { return true };
        let needs = || items.iter().map(Need::of);
        let lines = needs().map(|need| need.lowest).sum();
        let telling = needs().filter_map(|need| Some(need.telling? + lines - need.lowest)).min();
        let tier = &self.tiers[first.priority as usize];
        let keeps = !tier.refuses(Need { telling, lowest: lines });
        if !keeps {
            self.passed_over += items.len();
        }
        keeps
    }
}

/// What must be paid for something to be shown.
#[derive(Clone, Copy, Debug)]
struct Need {
    /// For what tells something, if anything does.
    telling: Option<u64>,
    /// For the cheapest.
    lowest: u64,
}

impl Need {
    fn of(item: &Item) -> Self {
        // The cheapest that tells something and is not above the ceiling. The
        // details of Background blocks are all served at once.
        let telling = item.costs.get(item.ceiling..item.telling).and_then(<[u64]>::last);
        let telling = telling.copied().filter(|_| item.priority != Priority::Background);
        Self { telling, lowest: item.costs[item.lowest()] }
    }
}

impl Tier {
    /// Whether what needs this is never shown.
    fn refuses(&self, need: Need) -> bool {
        // What is passed over keeps its tier below its ceiling: so does one of these.
        let is_below_ceiling = self.lowest.is_exceeded() || self.has_hopeless;
        self.kept >= KEPT_MIN
            && is_below_ceiling
            && need.telling.is_none_or(|telling| self.telling.is_over(telling))
            && self.lowest.is_over(need.lowest)
    }

    fn add(&mut self, need: Need) {
        if let Some(telling) = need.telling {
            // The first may have taken a mere line.
            let paid = if self.kept < NAMED_FIRST { need.lowest } else { telling };
            self.telling.add(telling, paid);
        }
        self.lowest.add(need.lowest, need.lowest);
        self.has_hopeless |= need.lowest > self.lowest.budget;
        self.kept += 1;
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
