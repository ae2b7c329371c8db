//! The walk: which detail each block gets, given what details cost.
//!
//! It knows nothing of texts or blocks, so its laws can be tried on any
//! numbers. RFC 0002 §4 has it line by line, and why each line is there; RFC
//! 0004 adds shares (§3.1) and excerpts (§7).

mod purse;

use lcp_types::Priority;

use crate::shares::{Demand, max_min_fair};
pub(crate) use purse::{EXCERPT_MIN, Purse, rung};

/// A small pack shows every block on a line of its own: up to this many blocks
/// all get their lowest detail before any gets more. In a larger pack the
/// lines of some would take the place of the content of others, and the
/// roll-up line stands for them.
pub(crate) const LINES_FIRST: usize = 32;

/// The first blocks of the order may take a mere line in their turn: what
/// matters most is named, if it does not fit, before others are shown.
pub(crate) const NAMED_FIRST: usize = 8;

/// Tokens of the largest excerpt that a block gets before all others had their
/// turn: one huge block must not leave nothing to the rest.
pub(crate) const EXCERPT_FIRST: u64 = 512;

/// With excerpts, lines come first in a small pack only where at least this
/// part is shown of what is shown without them: 19 of 20 tokens.
const TOLD_OF_LINES: (u64, u64) = (19, 20);

/// One block, as the walk sees it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) priority: Priority,
    /// Higher ranks come first within a priority; unranked ones last.
    pub(crate) rank: Option<f64>,
    /// The costs of its details, fullest first, strictly falling, never empty.
    pub(crate) costs: Ladder,
    /// The fullest detail that it may have at first: an index into `costs`.
    pub(crate) ceiling: usize,
    /// How many of its details show something of its content: all but a
    /// placeholder.
    pub(crate) telling: usize,
    /// Whether what is left may show it in full, once all others have their
    /// ceiling: Low blocks without a summary.
    pub(crate) may_grow: bool,
    /// Whether a part of it may be shown.
    pub(crate) may_be_cut: bool,
    /// The share that it belongs to: an index into [`Terms::shares`].
    pub(crate) share: usize,
    /// The blocks that it stands or falls with: an index into [`Terms::groups`].
    pub(crate) group: Option<usize>,
    /// Whether it competes.
    pub(crate) standing: Standing,
}

/// Whether a block competes for the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It does.
    #[default]
    Free,
    /// It stands as in the text before, which is its only detail.
    Kept,
    /// It had no part of the text before, and gets none.
    Out,
}

/// The costs of an item's details. They stand in the item itself: the walk
/// looks at every one several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ladder {
    costs: [u64; DETAILS_MAX],
    len: usize,
}

/// How many details a block can have.
pub(crate) const DETAILS_MAX: usize = 5;

impl FromIterator<u64> for Ladder {
    /// The first costs; there are no more than [`DETAILS_MAX`].
    fn from_iter<I: IntoIterator<Item = u64>>(costs: I) -> Self {
        let mut ladder = Self::default();
        for (place, cost) in ladder.costs.iter_mut().zip(costs) {
            *place = cost;
            ladder.len += 1;
        }
        ladder
    }
}

impl std::ops::Deref for Ladder {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.costs[..self.len]
    }
}

impl Item {
    pub(crate) fn lowest(&self) -> usize {
        self.costs.len() - 1
    }

    /// Whether its first detail is paid before anything competes.
    pub(crate) fn is_fixed(&self) -> bool {
        self.standing == Standing::Kept
            || self.standing == Standing::Free && self.priority == Priority::Critical
    }

    /// Whether a text must show or count it.
    pub(crate) fn is_rest(&self) -> bool {
        !self.is_fixed() && self.priority != Priority::Background
    }
}

/// What the walk knows of a share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShareTerms {
    /// Tokens that are its own.
    pub(crate) own: u32,
    /// What it counts beside the others where tokens are lent.
    pub(crate) weight: u32,
    /// Tokens that it must not exceed; `u64::MAX` for any number.
    pub(crate) cap: u64,
}

/// What the walk works with besides the blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<'t> {
    pub(crate) budget: u64,
    /// What is paid once: the envelope.
    pub(crate) envelope: u64,
    /// What the roll-up line can cost at most.
    pub(crate) line: u64,
    /// Whether Background blocks get what is left, wherever the others stand.
    pub(crate) fill: bool,
    /// The shares of the budget; none where all compete for the whole.
    pub(crate) shares: &'t [ShareTerms],
    /// Whether blocks may be shown in part.
    pub(crate) excerpts: bool,
    /// Blocks that are shown together or not at all (RFC 0005 §5.2).
    pub(crate) groups: &'t [Vec<usize>],
    /// The block that is served before all others, the fixed ones aside.
    pub(crate) first: Option<usize>,
}

/// Cuts blocks: what the walk cannot know by itself.
pub(crate) trait Cut {
    /// What an excerpt of block `i` costs that costs `most` tokens at most;
    /// `None` if there is none.
    fn cut(&mut self, i: usize, most: u64) -> Option<u64>;
}

/// What a block gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// A detail: an index into its costs.
    Detail(usize),
    /// A part of its content.
    Excerpt {
        /// What it may cost: the rung of the ladder.
        most: u64,
        /// What it costs.
        cost: u64,
    },
}

impl Choice {
    pub(crate) fn cost(self, item: &Item) -> u64 {
        match self {
            Self::Detail(detail) => item.costs[detail],
            Self::Excerpt { cost, .. } => cost,
        }
    }

    /// The detail, if it is one.
    pub(crate) fn detail(self) -> Option<usize> {
        match self {
            Self::Detail(detail) => Some(detail),
            Self::Excerpt { .. } => None,
        }
    }

    /// Whether it shows something of the content.
    pub(crate) fn tells(self, item: &Item) -> bool {
        match self {
            Self::Detail(detail) => detail < item.telling,
            Self::Excerpt { .. } => true,
        }
    }

    /// Whether it is the block's ceiling or fuller.
    pub(crate) fn is_at_ceiling(self, item: &Item) -> bool {
        matches!(self, Self::Detail(detail) if detail <= item.ceiling)
    }
}

/// What the walk decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// For each block what it gets, or `None`: no line of its own.
    pub(crate) chosen: Vec<Option<Choice>>,
    pub(crate) outcome: Outcome,
    /// Whether every block that must be shown or counted has its ceiling.
    pub(crate) at_ceiling: bool,
    /// What is left of the budget, the roll-up line paid where it was reserved.
    pub(crate) left: u64,
}

/// How the budget turned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The walk ran.
    Fits,
    /// Not even the roll-up line fits beside the Critical blocks: they alone.
    BelowFloor,
    /// The Critical blocks alone exceed the budget: they alone.
    CriticalExceeds {
        /// What they need, the envelope included.
        needed: u64,
    },
}

/// Allocates the budget.
pub(crate) fn walk(items: &[Item], terms: Terms<'_>, cutter: &mut dyn Cut) -> Allocation {
    let order = order(items);
    let mut attempt = |first| attempt(items, &order, terms, cutter, first);
    let small = order.len() <= LINES_FIRST;
    let mut allocation = attempt(if small { First::Lines } else { First::Named });
    if !terms.excerpts || allocation.outcome != Outcome::Fits {
        return allocation;
    }
    if small {
        // What lines for all cost may be most of a small budget.
        let named = attempt(First::Named);
        if named.told(items) * TOLD_OF_LINES.0 > allocation.told(items) * TOLD_OF_LINES.1 {
            allocation = named;
        }
    }
    if allocation.told(items) == 0 {
        // Content where there is any: a text without helps nobody.
        let content_first = last_resort(items, &order, terms, cutter);
        if content_first.told(items) > 0 {
            return content_first;
        }
    }
    allocation
}

/// Content before any line and whoever's share it is: what is tried where
/// nothing else shows any.
pub(crate) fn last_resort(
    items: &[Item],
    order: &[usize],
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
) -> Allocation {
    attempt(items, order, terms, cutter, First::Content)
}

impl Allocation {
    /// Tokens of what is shown of contents.
    pub(crate) fn told(&self, items: &[Item]) -> u64 {
        let told = |(chosen, item): (&Option<Choice>, &Item)| {
            chosen.filter(|choice| choice.tells(item)).map(|choice| choice.cost(item))
        };
        self.chosen.iter().zip(items).filter_map(told).sum()
    }
}

/// What is served before the tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum First {
    /// A line for each block: small packs.
    Lines,
    /// Nothing; but the first blocks may take a line in their turn.
    Named,
    /// Content, wherever there is some: the last resort.
    Content,
}

fn attempt(
    items: &[Item],
    order: &[usize],
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
    first: First,
) -> Allocation {
    let critical = fixed(items);
    let base = terms.envelope + critical;
    let chosen = fixed_alone(items);
    let alone = |chosen, outcome| Allocation {
        chosen,
        outcome,
        at_ceiling: order.is_empty(),
        left: terms.budget.saturating_sub(base),
    };
    if critical > 0 && base > terms.budget {
        return alone(chosen, Outcome::CriticalExceeds { needed: base });
    }
    let (reserve, ceiling) = reserve(items, order, base, terms, first);
    let Some(left) = terms.budget.checked_sub(base + reserve) else {
        return alone(chosen, Outcome::BelowFloor);
    };
    let mut purse = Purse::new(items, terms.shares, terms.groups, chosen, left);
    if let Some(newest) = terms.first {
        purse.step(newest, ceiling, items[newest].costs.len());
        // Where lines for all are what fits, nothing is left for more of it.
        if terms.excerpts && reserve > 0 && items[newest].ceiling == 0 {
            purse.excerpt(newest, 0, EXCERPT_FIRST.max(left / 2), cutter);
        }
    }
    match first {
        First::Lines => {
            for &i in order {
                purse.step(i, items[i].lowest(), items[i].costs.len());
            }
        }
        First::Named => {}
        First::Content => {
            for tier in tiers(items, order) {
                tell(&mut purse, tier, 0, terms, cutter);
            }
            something(&mut purse, order, cutter);
        }
    }
    if !terms.shares.is_empty() && first != First::Content {
        let grants = grants(items, terms, left + critical, purse.spent());
        purse.grant(&grants);
        serve(&mut purse, order, terms, cutter);
        let may_be_cut = |&i: &usize| items[i].ceiling == 0;
        grow(&mut purse, order.iter().copied().filter(may_be_cut), terms, cutter);
        purse.pool();
    }
    serve(&mut purse, order, terms, cutter);
    let at_ceiling = order.iter().all(|&i| {
        let at_ceiling = |choice: Choice| choice.is_at_ceiling(&items[i]);
        // What only a cap keeps down takes nothing from anyone.
        purse.chosen[i].is_some_and(at_ceiling) || purse.is_capped(i)
    });
    if at_ceiling {
        for &i in order.iter().filter(|&&i| items[i].may_grow) {
            purse.step(i, 0, items[i].costs.len());
        }
    }
    let may_be_cut = |&i: &usize| items[i].ceiling == 0 || at_ceiling && items[i].may_grow;
    grow(&mut purse, order.iter().copied().filter(may_be_cut), terms, cutter);
    if at_ceiling || terms.fill {
        let background = ranked(items, Priority::Background);
        for &i in &background {
            purse.step(i, items[i].ceiling, items[i].costs.len());
        }
        let may_be_cut = |&i: &usize| items[i].ceiling == 0;
        grow(&mut purse, background.into_iter().filter(may_be_cut), terms, cutter);
    }
    let (chosen, left) = purse.close();
    Allocation { chosen, outcome: Outcome::Fits, at_ceiling, left }
}

/// Serves tier by tier: what tells something, then mere lines.
fn serve(purse: &mut Purse<'_>, order: &[usize], terms: Terms<'_>, cutter: &mut dyn Cut) {
    let items = purse.items;
    let mut named = NAMED_FIRST;
    for tier in tiers(items, order) {
        tell(purse, tier, named, terms, cutter);
        named = named.saturating_sub(tier.len());
        for &i in tier {
            purse.step(i, items[i].ceiling, items[i].costs.len());
        }
    }
}

/// Whole details for the blocks of a tier, then first excerpts. The first
/// `named` blocks may take a line in their turn.
fn tell(
    purse: &mut Purse<'_>,
    tier: &[usize],
    named: usize,
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
) {
    let items = purse.items;
    for (at, &i) in tier.iter().enumerate() {
        let floor = if at < named { items[i].costs.len() } else { items[i].telling };
        purse.step(i, items[i].ceiling, floor);
    }
    if terms.excerpts {
        for &i in tier.iter().filter(|&&i| items[i].ceiling == 0) {
            purse.excerpt(i, 0, EXCERPT_FIRST, cutter);
        }
    }
}

fn tiers<'o>(items: &'o [Item], order: &'o [usize]) -> impl Iterator<Item = &'o [usize]> {
    order.chunk_by(|&a, &b| items[a].priority == items[b].priority)
}

/// Gives what is left to excerpts of `blocks`, on the highest rungs that can be
/// paid.
fn grow(
    purse: &mut Purse<'_>,
    blocks: impl Iterator<Item = usize>,
    terms: Terms<'_>,
    cutter: &mut dyn Cut,
) {
    if terms.excerpts {
        for i in blocks {
            purse.excerpt(i, 0, u64::MAX, cutter);
        }
    }
}

/// Shows something of one block whatever its ceiling, if nothing is shown yet.
fn something(purse: &mut Purse<'_>, order: &[usize], cutter: &mut dyn Cut) {
    let items = purse.items;
    let tells =
        |purse: &Purse<'_>, i: usize| purse.chosen[i].is_some_and(|choice| choice.tells(&items[i]));
    if (0..items.len()).any(|i| tells(purse, i)) {
        return;
    }
    let background = ranked(items, Priority::Background);
    for &i in order.iter().chain(&background) {
        purse.step(i, 0, items[i].telling);
        purse.excerpt(i, 0, EXCERPT_FIRST, cutter);
        if tells(purse, i) {
            return;
        }
    }
}

/// What is kept for the roll-up line, nothing where no block will need it; and
/// the fullest detail that the block which is served first may have with that.
fn reserve(
    items: &[Item],
    order: &[usize],
    base: u64,
    terms: Terms<'_>,
    first: First,
) -> (u64, usize) {
    let fits = |detail: &dyn Fn(usize) -> usize| {
        let cost = |i: usize| items[i].costs[detail(i)];
        let all: u64 = order.iter().map(|&i| cost(i)).sum();
        let mut of_shares = vec![0; terms.shares.len()];
        if !terms.shares.is_empty() {
            for item in items.iter().filter(|item| item.is_fixed()) {
                of_shares[item.share] += item.costs[0];
            }
        }
        let critical = of_shares.clone();
        if !terms.shares.is_empty() {
            for &i in order {
                of_shares[items[i].share] += cost(i);
            }
        }
        let mut shares = terms.shares.iter().zip(of_shares).zip(critical);
        base + all <= terms.budget
            && shares.all(|((share, used), critical)| used <= share.cap.max(critical))
    };
    let ceiling = terms.first.map_or(0, |newest| items[newest].ceiling);
    // What is out of the text is counted in the line.
    if items.iter().any(|item| item.standing == Standing::Out && item.is_rest()) {
        return (terms.line, ceiling);
    }
    // The last resort asks no ceilings: nobody knows what it leaves.
    if first != First::Content && fits(&|i| items[i].ceiling) {
        return (0, ceiling);
    }
    let lowest = |i: usize| items[i].lowest();
    if first != First::Lines || !fits(&lowest) {
        return (terms.line, ceiling);
    }
    let Some(newest) = terms.first else { return (0, ceiling) };
    // It comes before the lines of others, where it cannot have both.
    let mut details = ceiling..items[newest].costs.len();
    let with_line = details
        .clone()
        .find(|&detail| base + items[newest].costs[detail] + terms.line <= terms.budget);
    let on_lines = details.find(|&detail| fits(&|i| if i == newest { detail } else { lowest(i) }));
    match (with_line, on_lines) {
        (Some(with_line), Some(on_lines)) if with_line < on_lines => (terms.line, ceiling),
        (_, on_lines) => (0, on_lines.unwrap_or(ceiling)),
    }
}

/// What each share may spend of `total`: first each what it wants of its own,
/// then all what is left, by weight. What is `spent` already is part of it.
pub(crate) fn grants(items: &[Item], terms: Terms<'_>, total: u64, spent: &[u64]) -> Vec<u64> {
    let mut wanted = vec![0u64; terms.shares.len()];
    let wants = |item: &&Item| item.is_fixed() || item.is_rest() && item.standing != Standing::Out;
    for item in items.iter().filter(wants) {
        wanted[item.share] += item.costs[item.ceiling];
    }
    let limits: Vec<_> = terms
        .shares
        .iter()
        .zip(wanted)
        .zip(spent)
        .map(|((share, wanted), spent)| wanted.min(share.cap).max(*spent))
        .collect();
    let own = |((share, limit), &floor): ((&ShareTerms, &u64), &u64)| Demand {
        weight: share.own,
        floor,
        limit: u64::from(share.own).min(*limit).max(floor),
    };
    let own: Vec<_> = terms.shares.iter().zip(&limits).zip(spent).map(own).collect();
    let own = max_min_fair(total, &own);
    let lent = |((share, limit), floor): ((&ShareTerms, u64), u64)| Demand {
        weight: share.weight,
        floor,
        limit,
    };
    let lent: Vec<_> = terms.shares.iter().zip(limits).zip(own).map(lent).collect();
    max_min_fair(total, &lent)
}

/// The blocks from High to Low, in the order in which they are served:
/// priority, then rank, then position.
pub(crate) fn order(items: &[Item]) -> Vec<usize> {
    [Priority::High, Priority::Normal, Priority::Low]
        .into_iter()
        .flat_map(|priority| ranked(items, priority))
        .collect()
}

pub(crate) fn ranked(items: &[Item], priority: Priority) -> Vec<usize> {
    let competes = |item: &Item| item.standing == Standing::Free && item.priority == priority;
    let mut order: Vec<usize> = (0..items.len()).filter(|&i| competes(&items[i])).collect();
    if order.iter().any(|&i| items[i].rank.is_some()) {
        let rank = |i: usize| items[i].rank.unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
    }
    order
}

/// Tokens of the fixed blocks.
pub(crate) fn fixed(items: &[Item]) -> u64 {
    items.iter().filter(|item| item.is_fixed()).map(|item| item.costs[0]).sum()
}

/// What fixed blocks get, and no other.
pub(crate) fn fixed_alone(items: &[Item]) -> Vec<Option<Choice>> {
    items.iter().map(|item| item.is_fixed().then_some(Choice::Detail(0))).collect()
}

#[cfg(test)]
mod laws;
