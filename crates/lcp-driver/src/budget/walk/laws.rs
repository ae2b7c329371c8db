//! The laws of the walk (RFC 0002 §5, RFC 0004 §5), on numbers of every kind.

use lcp_types::Priority;
use proptest::prelude::*;

use super::{
    Allocation, Choice, Cut, EXCERPT_FIRST, Item, LINES_FIRST, Ladder, NAMED_FIRST, Outcome,
    ShareTerms, Standing, Terms, order, ranked, walk,
};

mod related;
mod shared;

impl<'t> Terms<'t> {
    /// Terms that allow nothing special.
    fn plain(shares: &'t [ShareTerms]) -> Self {
        Self {
            budget: 0,
            envelope: 0,
            line: 0,
            fill: false,
            shares,
            excerpts: false,
            groups: &[],
            first: None,
        }
    }
}

const BACKGROUND: Priority = Priority::Background;

/// Excerpts of numbers: each block has a least size, and sizes between rungs
/// are met only nearly, as lines of a text meet them.
struct Cuts<'i>(&'i [Item]);

impl Cut for Cuts<'_> {
    fn cut(&mut self, i: usize, most: u64) -> Option<u64> {
        let least = self.0[i].costs.last().unwrap() + 3 + i as u64 % 40;
        (most >= least).then(|| most - (most * 7 + i as u64) % 5.min(most - least + 1))
    }
}

fn any_item() -> impl Strategy<Value = Item> {
    let costs = prop_oneof![
        // Small costs, where every token decides, and heavy tails.
        prop::collection::vec(1u64..30, 1..4),
        prop::collection::vec(1u64..3_000, 1..5),
    ];
    let rank = prop_oneof![3 => Just(None), 1 => (0..5u8).prop_map(|rank| Some(f64::from(rank)))];
    (
        prop::sample::select(&Priority::ALL[..]),
        rank,
        costs,
        any::<prop::sample::Index>(),
        any::<[bool; 2]>(),
    )
        .prop_map(|(priority, rank, mut costs, ceiling, [may_grow, placeholder])| {
            costs.sort_unstable_by(|a, b| b.cmp(a));
            costs.dedup();
            let ceiling = match priority {
                Priority::Critical | Priority::High | Priority::Normal => 0,
                Priority::Low | Priority::Background => ceiling.index(costs.len()),
            };
            // One detail alone is content; of several, the last may be a mere line.
            let costs: Ladder = costs.into_iter().collect();
            let telling = costs.len() - usize::from(placeholder && costs.len() > 1);
            let may_grow = may_grow && priority == Priority::Low;
            let may_be_cut = !costs[0].is_multiple_of(5);
            let (group, standing) = (None, Standing::Free);
            Item {
                priority,
                rank,
                costs,
                ceiling,
                telling,
                may_grow,
                may_be_cut,
                share: 0,
                group,
                standing,
            }
        })
}

fn any_items() -> impl Strategy<Value = Vec<Item>> {
    prop_oneof![
        4 => prop::collection::vec(any_item(), 0..12),
        2 => prop::collection::vec(any_item(), 28..40),
        1 => prop::collection::vec(any_item(), 40..200),
    ]
}

/// Items, terms, and a budget from nothing to twice the whole.
fn any_case() -> impl Strategy<Value = (Vec<Item>, Terms<'static>)> {
    (any_items(), 0u64..10, 5u64..25, any::<bool>(), 0.0..2.0f64).prop_map(
        |(mut items, envelope, line, fill, share)| {
            if fill {
                for item in &mut items {
                    item.ceiling = 0;
                }
            }
            let whole: u64 = items.iter().map(|item| item.costs[0]).sum::<u64>() + envelope + line;
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            let budget = (whole as f64 * share * share / 2.0) as u64;
            (items, Terms { budget, envelope, line, fill, ..Terms::plain(&[]) })
        },
    )
}

fn critical(items: &[Item]) -> u64 {
    items.iter().filter(|item| item.priority == Priority::Critical).map(|item| item.costs[0]).sum()
}

/// What block `i` costs as it was decided.
fn paid(items: &[Item], allocation: &Allocation, i: usize) -> u64 {
    allocation.chosen[i].map_or(0, |choice| choice.cost(&items[i]))
}

fn walked(items: &[Item], terms: Terms<'_>) -> Allocation {
    walk(items, terms, &mut Cuts(items))
}

/// The detail that block `i` has; that of a line for an excerpt, nothing last.
fn detail(items: &[Item], allocation: &Allocation, i: usize) -> usize {
    match allocation.chosen[i] {
        Some(Choice::Detail(detail)) => detail,
        Some(Choice::Excerpt { .. }) => items[i].telling,
        None => items[i].costs.len(),
    }
}

fn rolled_up(items: &[Item], allocation: &Allocation) -> bool {
    allocation.outcome == Outcome::Fits
        && order(items).iter().any(|&i| allocation.chosen[i].is_none())
}

/// What the text will cost: the line at its bound.
fn planned(items: &[Item], terms: Terms<'_>, allocation: &Allocation) -> u64 {
    let blocks: u64 = (0..items.len()).map(|i| paid(items, allocation, i)).sum();
    terms.envelope + blocks + if rolled_up(items, allocation) { terms.line } else { 0 }
}

/// The details of block `i` that are better than what it has and allowed.
fn refused(items: &[Item], allocation: &Allocation, i: usize) -> std::ops::Range<usize> {
    items[i].ceiling..detail(items, allocation, i).max(items[i].ceiling)
}

/// What each step of the walk gave, in the order of the walk: the first lines,
/// the details up to the ceilings, growth, Background. Fuller details have
/// lower numbers; nothing has the highest.
fn steps(items: &[Item], allocation: &Allocation) -> Vec<usize> {
    let order = order(items);
    let got = |i: usize| detail(items, allocation, i);
    let up_to_ceiling = |i: usize| got(i).max(items[i].ceiling);
    let small = order.len() <= LINES_FIRST;
    // A line that did not fit at first fits never: what is left only shrinks.
    let lines =
        order.iter().filter(|_| small).map(|&i| usize::from(allocation.chosen[i].is_none()));
    // Of each tier, what tells something comes before mere lines.
    let tiers = order.chunk_by(|&a, &b| items[a].priority == items[b].priority);
    let named = &order[..order.len().min(NAMED_FIRST)];
    let tiers = tiers.flat_map(|tier| {
        let telling = tier.iter().map(|&i| match up_to_ceiling(i) {
            level if level < items[i].telling || named.contains(&i) => level,
            _ => usize::MAX,
        });
        telling.chain(tier.iter().map(|&i| up_to_ceiling(i)))
    });
    let grown = order.iter().filter(|&&i| items[i].may_grow).map(|&i| got(i));
    let background = ranked(items, BACKGROUND).into_iter().map(got);
    lines.chain(tiers).chain(grown).chain(background).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn bounded((items, terms) in any_case()) {
        let allocation = walked(&items, terms);
        let base = terms.envelope + critical(&items);
        let planned = planned(&items, terms, &allocation);
        match allocation.outcome {
            Outcome::Fits => prop_assert!(planned <= terms.budget),
            Outcome::BelowFloor => prop_assert!(critical(&items) == 0 || base <= terms.budget),
            Outcome::CriticalExceeds { needed } => {
                prop_assert!(needed == base && planned == base && base > terms.budget);
            }
        }
    }

    #[test]
    fn critical_blocks_are_always_full((items, terms) in any_case()) {
        let allocation = walked(&items, terms);
        for (item, chosen) in items.iter().zip(&allocation.chosen) {
            prop_assert!(item.priority != Priority::Critical || *chosen == Some(Choice::Detail(0)));
        }
    }

    /// Giving back all that lower tiers were given beyond their first lines
    /// would not buy a step that was refused.
    #[test]
    fn no_inversion((items, terms) in any_case()) {
        let allocation = walked(&items, terms);
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        let order = order(&items);
        let first_line = |j: usize| {
            let first = order.len() <= LINES_FIRST && order.contains(&j);
            if first && allocation.chosen[j].is_some() { *items[j].costs.last().unwrap() } else { 0 }
        };
        for &i in &order {
            let lower = (0..items.len()).filter(|&j| items[j].priority > items[i].priority);
            let given: u64 = lower
                .map(|j| paid(&items, &allocation, j).saturating_sub(first_line(j)))
                .sum();
            for detail in refused(&items, &allocation, i) {
                let extra = items[i].costs[detail] - paid(&items, &allocation, i);
                prop_assert!(extra > allocation.left + given, "block {i} detail {detail}");
            }
        }
    }

    /// No allowed upgrade fits in what is left.
    #[test]
    fn maximal((items, terms) in any_case()) {
        let allocation = walked(&items, terms);
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        let order = order(&items);
        let at_ceiling = order
            .iter()
            .all(|&i| detail(&items, &allocation, i) <= items[i].ceiling);
        for i in 0..items.len() {
            let allowed = match items[i].priority {
                BACKGROUND => terms.fill || at_ceiling,
                _ => true,
            };
            let mut better = refused(&items, &allocation, i);
            if at_ceiling && items[i].may_grow {
                better = 0..detail(&items, &allocation, i);
            }
            for detail in better.filter(|_| allowed) {
                prop_assert!(items[i].costs[detail] - paid(&items, &allocation, i) > allocation.left);
            }
        }
    }

    /// From base + line on, every block but Background is visible or counted.
    #[test]
    fn complete((items, terms) in any_case()) {
        let allocation = walked(&items, terms);
        let base = terms.envelope + critical(&items);
        prop_assert!(terms.budget < base + terms.line || allocation.outcome == Outcome::Fits);
    }

    /// As the budget grows, the outcomes of the steps never fall
    /// lexicographically in the order in which the walk takes them, nor does
    /// the sum of the blocks' tokens.
    #[test]
    fn monotone((items, terms) in any_case(), more in prop_oneof![Just(1u64), 1u64..50]) {
        let larger = Terms { budget: terms.budget + more, ..terms };
        let (before, after) = (walked(&items, terms), walked(&items, larger));
        prop_assert!(steps(&items, &after) <= steps(&items, &before));
        let sum = |allocation: &Allocation| -> u64 {
            (0..items.len()).map(|i| paid(&items, allocation, i)).sum()
        };
        prop_assert!(sum(&after) >= sum(&before));
    }

    /// A budget in which everything fits renders everything, under `fill`.
    #[test]
    fn fill_degrades_nothing_that_fits((items, terms) in any_case()) {
        let whole: u64 = items.iter().map(|item| item.costs[0]).sum();
        let items: Vec<_> = items.into_iter().map(|item| Item { ceiling: 0, ..item }).collect();
        let terms = Terms { budget: terms.envelope + whole, fill: true, ..terms };
        let allocation = walked(&items, terms);
        prop_assert!(allocation.chosen.iter().all(|chosen| *chosen == Some(Choice::Detail(0))));
        prop_assert_eq!(allocation.left, 0);
    }
}
