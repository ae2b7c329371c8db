//! The walk: which detail each block gets, given what details cost.
//!
//! It knows nothing of texts or blocks, so its laws can be tried on any
//! numbers. RFC 0002 §4 has it line by line, and why each line is there.

use lcp_types::Priority;

/// A small pack shows every block on a line of its own: up to this many blocks
/// all get their lowest detail before any gets more. In a larger pack the
/// lines of some would take the place of the content of others, and the
/// roll-up line stands for them.
pub(crate) const LINES_FIRST: usize = 32;

/// The first blocks of the order may take a mere line in their turn: what
/// matters most is named, if it does not fit, before others are shown.
pub(crate) const NAMED_FIRST: usize = 8;

/// One block, as the walk sees it.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) priority: Priority,
    /// Higher ranks come first within a priority; unranked ones last.
    pub(crate) rank: Option<f64>,
    /// The costs of its details, fullest first, strictly falling, never empty.
    pub(crate) costs: Vec<u64>,
    /// The fullest detail that it may have at first: an index into `costs`.
    pub(crate) ceiling: usize,
    /// How many of its details show something of its content: all but a
    /// placeholder.
    pub(crate) telling: usize,
    /// Whether what is left may show it in full, once all others have their
    /// ceiling: Low blocks without a summary.
    pub(crate) may_grow: bool,
}

impl Item {
    fn lowest(&self) -> usize {
        self.costs.len() - 1
    }
}

/// What the walk works with besides the blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) budget: u64,
    /// What is paid once: the envelope.
    pub(crate) envelope: u64,
    /// What the roll-up line can cost at most.
    pub(crate) line: u64,
    /// Whether Background blocks get what is left, wherever the others stand.
    pub(crate) fill: bool,
}

/// What the walk decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// For each block an index into its costs, or `None`: no line of its own.
    pub(crate) chosen: Vec<Option<usize>>,
    pub(crate) outcome: Outcome,
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
pub(crate) fn walk(items: &[Item], terms: Terms) -> Allocation {
    let critical: u64 = of(items, Priority::Critical).map(|i| items[i].costs[0]).sum();
    let base = terms.envelope + critical;
    let mut chosen: Vec<Option<usize>> =
        items.iter().map(|item| (item.priority == Priority::Critical).then_some(0)).collect();
    let alone =
        |chosen, outcome| Allocation { chosen, outcome, left: terms.budget.saturating_sub(base) };
    if critical > 0 && base > terms.budget {
        return alone(chosen, Outcome::CriticalExceeds { needed: base });
    }
    let order = order(items);
    let reserve = reserve(items, &order, base, terms);
    let Some(left) = terms.budget.checked_sub(base + reserve) else {
        return alone(chosen, Outcome::BelowFloor);
    };
    let mut purse = Purse { items, chosen: &mut chosen, left };
    let small = order.len() <= LINES_FIRST;
    if small {
        for &i in &order {
            purse.step(i, items[i].lowest(), items[i].costs.len());
        }
    }
    let mut named = NAMED_FIRST;
    for tier in order.chunk_by(|&a, &b| items[a].priority == items[b].priority) {
        for &i in tier {
            let floor = if named > 0 { items[i].costs.len() } else { items[i].telling };
            named = named.saturating_sub(1);
            purse.step(i, items[i].ceiling, floor);
        }
        for &i in tier {
            purse.step(i, items[i].ceiling, items[i].costs.len());
        }
    }
    let at_ceiling =
        order.iter().all(|&i| purse.chosen[i].is_some_and(|detail| detail <= items[i].ceiling));
    if at_ceiling {
        for &i in order.iter().filter(|&&i| items[i].may_grow) {
            purse.step(i, 0, items[i].costs.len());
        }
    }
    if at_ceiling || terms.fill {
        for i in ranked(items, Priority::Background) {
            purse.step(i, items[i].ceiling, items[i].costs.len());
        }
    }
    let left = purse.left;
    Allocation { chosen, outcome: Outcome::Fits, left }
}

/// What is kept for the roll-up line: nothing where no block will need it.
fn reserve(items: &[Item], order: &[usize], base: u64, terms: Terms) -> u64 {
    let fits = |detail: fn(&Item) -> usize| {
        let costs = order.iter().map(|&i| items[i].costs[detail(&items[i])]);
        base + costs.sum::<u64>() <= terms.budget
    };
    let all_at_ceiling = fits(|item| item.ceiling);
    let all_on_lines = order.len() <= LINES_FIRST && fits(Item::lowest);
    if all_at_ceiling || all_on_lines { 0 } else { terms.line }
}

/// The blocks from High to Low, in the order in which they are served:
/// priority, then rank, then position.
pub(crate) fn order(items: &[Item]) -> Vec<usize> {
    [Priority::High, Priority::Normal, Priority::Low]
        .into_iter()
        .flat_map(|priority| ranked(items, priority))
        .collect()
}

fn ranked(items: &[Item], priority: Priority) -> Vec<usize> {
    let mut order: Vec<usize> = of(items, priority).collect();
    if order.iter().any(|&i| items[i].rank.is_some()) {
        let rank = |i: usize| items[i].rank.unwrap_or(f64::NEG_INFINITY);
        order.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)));
    }
    order
}

fn of(items: &[Item], priority: Priority) -> impl Iterator<Item = usize> {
    items.iter().enumerate().filter(move |(_, item)| item.priority == priority).map(|(i, _)| i)
}

/// The rest of the budget while it is spent.
struct Purse<'w> {
    items: &'w [Item],
    chosen: &'w mut Vec<Option<usize>>,
    left: u64,
}

impl Purse<'_> {
    /// Gives block `i` the fullest detail from `ceiling` to below `floor` that
    /// is better than what it has and whose extra cost can be paid.
    fn step(&mut self, i: usize, ceiling: usize, floor: usize) {
        let costs = &self.items[i].costs;
        let has = self.chosen[i];
        let paid = has.map_or(0, |detail| costs[detail]);
        let better = costs.iter().enumerate().take(has.unwrap_or(floor).min(floor)).skip(ceiling);
        for (detail, cost) in better {
            if cost - paid <= self.left {
                self.left -= cost - paid;
                self.chosen[i] = Some(detail);
                return;
            }
        }
    }
}

#[cfg(test)]
mod laws;
