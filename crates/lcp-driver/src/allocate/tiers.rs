//! Allocation by tiers: no block gets tokens that a block of higher priority was refused (RFC 0002
//! §4 gives the reason for each step).

use lcp_types::Priority;

use super::passages::{NAMED_PART, ShownPassages, show_passages};
use super::{
    Allocation, AllocationInput, BudgetLedger, Candidate, Eligibility, Excerpter, Outcome,
    Selection, ShareLimits, fixed_tokens,
};
use crate::shares::{Demand, max_min_fair};

/// The maximum number of blocks for which all get their lowest level before any gets more. In a
/// larger pack, the placeholders of some blocks would displace the content of others, so the
/// roll-up line replaces them.
pub(crate) const LINES_FIRST: usize = 32;

/// The number of first blocks that may take a mere placeholder in their turn. They are named before
/// others are shown.
pub(crate) const NAMED_FIRST: usize = 8;

/// The maximum tokens of an excerpt that a block gets before all others had their turn.
pub(super) const EXCERPT_FIRST: u64 = 512;

/// The fraction of the shown content that must remain for placeholders to come first, if excerpts
/// are on.
const LINES_SHOWN_MIN: (u64, u64) = (19, 20);

pub(crate) fn allocate_tiers(
    input: AllocationInput<'_>,
    excerpter: &mut dyn Excerpter,
) -> Allocation {
    let candidates = input.candidates;
    let order = input.service_order();
    let mut allocate = |serve_first| allocate_with(input, &order, excerpter, serve_first);
    let small = order.len() <= LINES_FIRST;
    let mut allocation = allocate(if small { ServeFirst::Lines } else { ServeFirst::Names });
    if !input.excerpts || allocation.outcome != Outcome::Fits {
        return allocation;
    }
    if small {
        // Placeholders for all blocks may use most of a small budget.
        let named = allocate(ServeFirst::Names);
        let (part, whole) = LINES_SHOWN_MIN;
        if named.shown_tokens(candidates) * part > allocation.shown_tokens(candidates) * whole {
            allocation = named;
        }
    }
    if allocation.shown_tokens(candidates) == 0 {
        // A text without any content is useless.
        let content_first = allocate(ServeFirst::Content);
        if content_first.shown_tokens(candidates) > 0 {
            return content_first;
        }
    }
    allocation
}

/// The parts that are served before the tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServeFirst {
    /// A placeholder for each block, in small packs.
    Lines,
    /// Nothing, but the first blocks may take a placeholder in their turn.
    Names,
    /// Content before any placeholder, regardless of shares. Used only if no other strategy shows
    /// content.
    Content,
}

/// Allocates the budget by one strategy; `order` is the service order of the input.
pub(super) fn allocate_with(
    input: AllocationInput<'_>,
    order: &[usize],
    excerpter: &mut dyn Excerpter,
    serve_first: ServeFirst,
) -> Allocation {
    let candidates = input.candidates;
    let critical = fixed_tokens(candidates);
    let base = input.envelope + critical;
    if critical > 0 && base > input.budget {
        return input.fixed_only(Outcome::CriticalExceeds { needed: base }, order.is_empty());
    }
    let (reserve, ceiling) = reserve(input, order, base, serve_first);
    let Some(left) = input.budget.checked_sub(base + reserve) else {
        return input.fixed_only(Outcome::BelowFloor, order.is_empty());
    };
    let chosen = input.fixed_selections();
    let ledger = BudgetLedger::new(candidates, input.shares, input.groups, chosen, left);
    let mut tiers = TierAllocator { input, ledger, excerpter, passages: ShownPassages::new() };
    if let Some(newest) = input.first {
        tiers.ledger.upgrade_to(newest, ceiling);
        // Without a reserve, either everything fits or placeholders for all blocks fill the budget.
        // Neither case has an excerpt.
        if input.excerpts && reserve > 0 && candidates[newest].ceiling == 0 {
            tiers.excerpt(newest, EXCERPT_FIRST.max(left / 2));
        }
    }
    match serve_first {
        ServeFirst::Lines => {
            for &i in order {
                tiers.ledger.upgrade_to(i, candidates[i].lowest());
            }
        }
        ServeFirst::Names => {}
        ServeFirst::Content => {
            for tier in by_priority(candidates, order) {
                tiers.upgrade_tier(tier, 0);
            }
            tiers.place_at_least_one(order);
        }
    }
    if !input.shares.is_empty() && serve_first != ServeFirst::Content {
        let grants = share_grants(input, left + critical, tiers.ledger.spent());
        tiers.ledger.restrict_to_grants(&grants);
        tiers.upgrade_tiers(order);
        tiers.grow_excerpts(order, false);
        tiers.ledger.spend_from_total();
    }
    tiers.upgrade_tiers(order);
    let at_ceiling = order.iter().all(|&i| {
        let at_ceiling = |selection: Selection| selection.is_at_ceiling(&candidates[i]);
        // A candidate that only a cap limits does not take tokens from others.
        tiers.ledger.chosen(i).is_some_and(at_ceiling) || tiers.ledger.is_capped(i)
    });
    if at_ceiling {
        for &i in order.iter().filter(|&&i| candidates[i].may_grow) {
            tiers.ledger.upgrade_to(i, 0);
        }
    }
    tiers.grow_excerpts(order, at_ceiling);
    if at_ceiling || input.fill {
        let background = input.by_rank(Priority::Background);
        for &i in &background {
            tiers.ledger.upgrade_to(i, candidates[i].ceiling);
        }
        tiers.grow_excerpts(&background, false);
    }
    let (chosen, left) = tiers.ledger.into_parts();
    Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }
}

struct TierAllocator<'a, 'e> {
    input: AllocationInput<'a>,
    ledger: BudgetLedger<'a>,
    excerpter: &'e mut dyn Excerpter,
    /// The passages that are shown so far.
    passages: ShownPassages,
}

impl TierAllocator<'_, '_> {
    fn excerpt(&mut self, i: usize, most: u64) {
        self.ledger.excerpt(i, 0, most, self.excerpter);
    }

    fn upgrade_tiers(&mut self, order: &[usize]) {
        let candidates = self.input.candidates;
        let mut named = NAMED_FIRST;
        for tier in by_priority(candidates, order) {
            self.upgrade_tier(tier, named);
            named = named.saturating_sub(tier.len());
            for &i in tier {
                self.ledger.upgrade_to(i, candidates[i].ceiling);
            }
        }
    }

    /// Gives the blocks of a tier levels with content, or at least a placeholder to the first
    /// `named` ones, then first excerpts.
    fn upgrade_tier(&mut self, tier: &[usize], named: usize) {
        if self.input.excerpts && self.has_passages(tier) && !self.ledger.affords_ceilings(tier) {
            self.upgrade_by_passages(tier);
        }
        for (at, &i) in tier.iter().enumerate() {
            let candidate = &self.input.candidates[i];
            let floor = if at < named { candidate.costs.len() } else { candidate.content_levels };
            self.ledger.upgrade(i, candidate.ceiling, floor);
        }
        if self.input.excerpts {
            for &i in tier.iter().filter(|&&i| self.input.candidates[i].ceiling == 0) {
                self.excerpt(i, EXCERPT_FIRST);
            }
        }
    }

    fn has_passages(&self, tier: &[usize]) -> bool {
        tier.iter().any(|&i| self.input.candidates[i].has_passages)
    }

    /// Shows the best passages of a tier, then names its other blocks, then shows blocks of which
    /// passages are shown in full (RFC 0014).
    fn upgrade_by_passages(&mut self, tier: &[usize]) {
        let Self { input, ledger, excerpter, passages } = self;
        if !show_passages(*input, ledger, *excerpter, tier, passages) {
            return;
        }
        let mut for_lines = input.budget / NAMED_PART;
        for &i in tier {
            let candidate = &input.candidates[i];
            // The content of many blocks may be worth less than a few words about each of them.
            ledger.upgrade(i, candidate.ceiling.max(1), candidate.content_levels);
            let line = candidate.costs[candidate.lowest()];
            if ledger.chosen(i).is_none() && line <= for_lines {
                ledger.upgrade(i, candidate.lowest(), candidate.costs.len());
                for_lines -= ledger.chosen(i).map_or(0, |_| line);
            }
        }
        for &i in tier {
            if matches!(ledger.chosen(i), Some(Selection::Excerpt { .. })) {
                ledger.upgrade(i, 0, 1);
            }
        }
    }

    /// Spends leftover tokens on the largest excerpts of blocks that may be shown in full. With
    /// `grow`, this includes the blocks that may grow to that.
    fn grow_excerpts(&mut self, blocks: &[usize], grow: bool) {
        let candidates = self.input.candidates;
        let may_be_full = |i: usize| candidates[i].ceiling == 0 || grow && candidates[i].may_grow;
        if self.input.excerpts {
            for &i in blocks.iter().filter(|&&i| may_be_full(i)) {
                self.excerpt(i, u64::MAX);
            }
        }
    }

    fn has_content(&self, i: usize) -> bool {
        let candidate = &self.input.candidates[i];
        self.ledger.chosen(i).is_some_and(|selection| selection.has_content(candidate))
    }

    /// Shows content of one block regardless of its ceiling, if no content is shown yet.
    fn place_at_least_one(&mut self, order: &[usize]) {
        let candidates = self.input.candidates;
        if (0..candidates.len()).any(|i| self.has_content(i)) {
            return;
        }
        let background = self.input.by_rank(Priority::Background);
        for &i in order.iter().chain(&background) {
            self.ledger.upgrade(i, 0, candidates[i].content_levels);
            self.excerpt(i, EXCERPT_FIRST);
            if self.has_content(i) {
                return;
            }
        }
    }
}

fn by_priority<'o>(
    candidates: &[Candidate],
    order: &'o [usize],
) -> impl Iterator<Item = &'o [usize]> {
    order.chunk_by(|&a, &b| candidates[a].priority == candidates[b].priority)
}

/// Returns the tokens to reserve for the roll-up line, and the ceiling of the first block.
fn reserve(
    input: AllocationInput<'_>,
    order: &[usize],
    base: u64,
    serve_first: ServeFirst,
) -> (u64, usize) {
    let candidates = input.candidates;
    let fits = |level: &dyn Fn(usize) -> usize| {
        let cost = |i: usize| candidates[i].costs[level(i)];
        let all: u64 = order.iter().map(|&i| cost(i)).sum();
        let mut used = vec![0; input.shares.len()];
        if !input.shares.is_empty() {
            for candidate in candidates.iter().filter(|candidate| candidate.is_fixed()) {
                used[candidate.share] += candidate.costs[0];
            }
        }
        let critical = used.clone();
        if !input.shares.is_empty() {
            for &i in order {
                used[candidates[i].share] += cost(i);
            }
        }
        let mut shares = input.shares.iter().zip(used).zip(critical);
        base + all <= input.budget
            && shares.all(|((share, used), critical)| used <= share.cap.max(critical))
    };
    let ceiling = input.first.map_or(0, |newest| candidates[newest].ceiling);
    // The roll-up line counts excluded candidates.
    if candidates.iter().any(|candidate| {
        candidate.eligibility == Eligibility::Excluded && candidate.needs_mention()
    }) {
        return (input.line, ceiling);
    }
    // The content-first strategy ignores ceilings, so its total cost is not known here.
    if serve_first != ServeFirst::Content && fits(&|i| candidates[i].ceiling) {
        return (0, ceiling);
    }
    let lowest = |i: usize| candidates[i].lowest();
    if serve_first != ServeFirst::Lines || !fits(&lowest) {
        return (input.line, ceiling);
    }
    let Some(newest) = input.first else { return (0, ceiling) };
    // If the newest turn cannot have both, it takes precedence over the placeholders of others.
    let mut levels = ceiling..candidates[newest].costs.len();
    let with_line = levels
        .clone()
        .find(|&level| base + candidates[newest].costs[level] + input.line <= input.budget);
    let on_lines = levels.find(|&level| fits(&|i| if i == newest { level } else { lowest(i) }));
    match (with_line, on_lines) {
        (Some(with_line), Some(on_lines)) if with_line < on_lines => (input.line, ceiling),
        (_, on_lines) => (0, on_lines.unwrap_or(ceiling)),
    }
}

/// Returns the maximum tokens of each share out of `total`: its own tokens, then the rest by
/// weight.
pub(super) fn share_grants(input: AllocationInput<'_>, total: u64, spent: &[u64]) -> Vec<u64> {
    let mut wanted = vec![0u64; input.shares.len()];
    for candidate in input.candidates {
        let competes = candidate.needs_mention() && candidate.eligibility != Eligibility::Excluded;
        if candidate.is_fixed() || competes {
            wanted[candidate.share] += candidate.costs[candidate.ceiling];
        }
    }
    let shares = || input.shares.iter().zip(&wanted).zip(spent);
    let limit = |((share, wanted), spent): ((&ShareLimits, &u64), &u64)| {
        (*wanted).min(share.cap).max(*spent)
    };
    let limits: Vec<_> = shares().map(limit).collect();
    let own = shares().zip(&limits).map(|(((share, _), &floor), &limit)| Demand {
        weight: share.own,
        floor,
        limit: u64::from(share.own).min(limit).max(floor),
    });
    let own = max_min_fair(total, &own.collect::<Vec<_>>());
    let lent = input.shares.iter().zip(limits).zip(own);
    let lent = lent.map(|((share, limit), floor)| Demand { weight: share.weight, floor, limit });
    max_min_fair(total, &lent.collect::<Vec<_>>())
}
