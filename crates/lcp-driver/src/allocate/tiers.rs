//! Allocation tier by tier: no block gets what one of a higher priority was refused (RFC 0002 §4
//! gives the reason for each step).

use lcp_types::Priority;

use super::{
    Allocation, AllocationInput, BudgetLedger, Eligibility, Excerpter, Outcome, Selection,
    ShareLimits, fixed_tokens,
};
use crate::shares::{Demand, max_min_fair};

/// Up to this many blocks, all get their lowest level before any gets more. In a larger pack the
/// lines of some would displace the content of others, so the roll-up line stands for them.
pub(crate) const LINES_FIRST: usize = 32;

/// The first blocks of the order may take a mere line in their turn: the most important blocks are
/// at least named before others are shown.
pub(crate) const NAMED_FIRST: usize = 8;

/// The largest excerpt, in tokens, that a block gets before all others had their turn: one huge
/// block must not use up the budget.
pub(super) const EXCERPT_FIRST: u64 = 512;

/// With excerpts, lines come first in a small pack only if at least 19 of 20 tokens of the content
/// that is shown without them remain.
const LINES_SHOWN_MIN: (u64, u64) = (19, 20);

/// Allocates the budget.
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
        // Lines for all blocks may cost most of a small budget.
        let named = allocate(ServeFirst::Names);
        let (part, whole) = LINES_SHOWN_MIN;
        if named.shown_tokens(candidates) * part > allocation.shown_tokens(candidates) * whole {
            allocation = named;
        }
    }
    if allocation.shown_tokens(candidates) == 0 {
        // A text without any content helps nobody.
        let content_first = allocate(ServeFirst::Content);
        if content_first.shown_tokens(candidates) > 0 {
            return content_first;
        }
    }
    allocation
}

/// What is served before the tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServeFirst {
    /// A line for each block: small packs.
    Lines,
    /// Nothing, but the first blocks may take a line in their turn.
    Names,
    /// Content before any line, whatever the shares: used if nothing else shows any.
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
    let mut ledger = BudgetLedger::new(candidates, input.shares, input.groups, chosen, left);
    if let Some(newest) = input.first {
        ledger.upgrade(newest, ceiling, candidates[newest].costs.len());
        // Where lines for all are what fits, nothing is left for more of it.
        if input.excerpts && reserve > 0 && candidates[newest].ceiling == 0 {
            ledger.excerpt(newest, 0, EXCERPT_FIRST.max(left / 2), excerpter);
        }
    }
    match serve_first {
        ServeFirst::Lines => {
            for &i in order {
                ledger.upgrade(i, candidates[i].lowest(), candidates[i].costs.len());
            }
        }
        ServeFirst::Names => {}
        ServeFirst::Content => {
            for tier in tiers(input, order) {
                upgrade_tier(&mut ledger, tier, 0, input, excerpter);
            }
            place_at_least_one(&mut ledger, input, order, excerpter);
        }
    }
    if !input.shares.is_empty() && serve_first != ServeFirst::Content {
        let grants = share_grants(input, left + critical, ledger.spent());
        ledger.restrict_to_grants(&grants);
        upgrade_tiers(&mut ledger, order, input, excerpter);
        grow_excerpts(&mut ledger, order, false, input, excerpter);
        ledger.spend_from_total();
    }
    upgrade_tiers(&mut ledger, order, input, excerpter);
    let at_ceiling = order.iter().all(|&i| {
        let at_ceiling = |selection: Selection| selection.is_at_ceiling(&candidates[i]);
        // A candidate that only a cap keeps down takes nothing from anyone.
        ledger.chosen(i).is_some_and(at_ceiling) || ledger.is_capped(i)
    });
    if at_ceiling {
        for &i in order.iter().filter(|&&i| candidates[i].may_grow) {
            ledger.upgrade(i, 0, candidates[i].costs.len());
        }
    }
    grow_excerpts(&mut ledger, order, at_ceiling, input, excerpter);
    if at_ceiling || input.fill {
        let background = input.by_rank(Priority::Background);
        for &i in &background {
            ledger.upgrade(i, candidates[i].ceiling, candidates[i].costs.len());
        }
        grow_excerpts(&mut ledger, &background, false, input, excerpter);
    }
    let (chosen, left) = ledger.into_parts();
    Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }
}

/// Serves all tiers in order.
fn upgrade_tiers(
    ledger: &mut BudgetLedger<'_>,
    order: &[usize],
    input: AllocationInput<'_>,
    excerpter: &mut dyn Excerpter,
) {
    let candidates = input.candidates;
    let mut named = NAMED_FIRST;
    for tier in tiers(input, order) {
        upgrade_tier(ledger, tier, named, input, excerpter);
        named = named.saturating_sub(tier.len());
        for &i in tier {
            ledger.upgrade(i, candidates[i].ceiling, candidates[i].costs.len());
        }
    }
}

/// Gives the blocks of a tier levels with content, then first excerpts. The first `named` blocks
/// may take a line in their turn.
fn upgrade_tier(
    ledger: &mut BudgetLedger<'_>,
    tier: &[usize],
    named: usize,
    input: AllocationInput<'_>,
    excerpter: &mut dyn Excerpter,
) {
    for (at, &i) in tier.iter().enumerate() {
        let candidate = &input.candidates[i];
        let floor = if at < named { candidate.costs.len() } else { candidate.content_levels };
        ledger.upgrade(i, candidate.ceiling, floor);
    }
    if input.excerpts {
        for &i in tier.iter().filter(|&&i| input.candidates[i].ceiling == 0) {
            ledger.excerpt(i, 0, EXCERPT_FIRST, excerpter);
        }
    }
}

fn tiers<'o>(input: AllocationInput<'_>, order: &'o [usize]) -> impl Iterator<Item = &'o [usize]> {
    let priority = move |i: usize| input.candidates[i].priority;
    order.chunk_by(move |&a, &b| priority(a) == priority(b))
}

/// Gives what is left to excerpts of the largest size that can be paid: of those of `blocks` that
/// may be shown in full, or may grow to that if `grow`.
fn grow_excerpts(
    ledger: &mut BudgetLedger<'_>,
    blocks: &[usize],
    grow: bool,
    input: AllocationInput<'_>,
    excerpter: &mut dyn Excerpter,
) {
    let may_be_full = |i: usize| {
        let candidate = &input.candidates[i];
        candidate.ceiling == 0 || grow && candidate.may_grow
    };
    if input.excerpts {
        for &i in blocks.iter().filter(|&&i| may_be_full(i)) {
            ledger.excerpt(i, 0, u64::MAX, excerpter);
        }
    }
}

/// Shows something of one block whatever its ceiling, if nothing is shown yet.
fn place_at_least_one(
    ledger: &mut BudgetLedger<'_>,
    input: AllocationInput<'_>,
    order: &[usize],
    excerpter: &mut dyn Excerpter,
) {
    let candidates = input.candidates;
    let shows_content = |ledger: &BudgetLedger<'_>, i: usize| {
        ledger.chosen(i).is_some_and(|selection| selection.shows_content(&candidates[i]))
    };
    if (0..candidates.len()).any(|i| shows_content(ledger, i)) {
        return;
    }
    let background = input.by_rank(Priority::Background);
    for &i in order.iter().chain(&background) {
        ledger.upgrade(i, 0, candidates[i].content_levels);
        ledger.excerpt(i, 0, EXCERPT_FIRST, excerpter);
        if shows_content(ledger, i) {
            return;
        }
    }
}

/// Returns the tokens to reserve for the roll-up line, 0 where no block will need it; and the
/// fullest level that the block which is served first may have with that.
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
    // Excluded candidates are counted in the line.
    if candidates.iter().any(|candidate| {
        candidate.eligibility == Eligibility::Excluded && candidate.needs_mention()
    }) {
        return (input.line, ceiling);
    }
    // The last resort ignores ceilings: nobody knows what it leaves.
    if serve_first != ServeFirst::Content && fits(&|i| candidates[i].ceiling) {
        return (0, ceiling);
    }
    let lowest = |i: usize| candidates[i].lowest();
    if serve_first != ServeFirst::Lines || !fits(&lowest) {
        return (input.line, ceiling);
    }
    let Some(newest) = input.first else { return (0, ceiling) };
    // It comes before the lines of others, where it cannot have both.
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

/// Returns what each share may spend of `total`: first what it wants of its own tokens, then all
/// that is left, by weight. What it has `spent` already is part of it.
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
