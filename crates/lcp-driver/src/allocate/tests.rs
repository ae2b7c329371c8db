//! Properties of allocation by tiers (RFC 0002 §5), with groups and a block that is served first
//! (RFC 0005 §5), and with shares and excerpts (RFC 0004 §5), for numbers of every size.

mod items;

use lcp_types::Priority;
use proptest::prelude::*;

use items::{Cuts, any_item};

use super::ledger::excerpt_step;
use super::tiers::EXCERPT_FIRST;
use super::*;

impl<'t> AllocationInput<'t> {
    /// Returns an input without any options.
    fn plain(shares: &'t [ShareLimits]) -> Self {
        Self {
            candidates: &[],
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

fn any_items() -> impl Strategy<Value = Vec<Candidate>> {
    prop_oneof![
        4 => prop::collection::vec(any_item(), 0..12),
        2 => prop::collection::vec(any_item(), 28..40),
        1 => prop::collection::vec(any_item(), 40..200),
    ]
}

/// Generates items, options, and a budget from 0 to twice the total cost.
fn any_case() -> impl Strategy<Value = (Vec<Candidate>, AllocationInput<'static>)> {
    (any_items(), 0u64..10, 5u64..25, any::<bool>(), 0.0..2.0f64).prop_map(
        |(mut items, envelope, line, fill, share)| {
            if fill {
                for item in &mut items {
                    item.ceiling = 0;
                }
            }
            let whole: u64 = items.iter().map(|item| item.costs[0]).sum::<u64>() + envelope + line;
            #[expect(
                clippy::cast_precision_loss, clippy::cast_possible_truncation,
                clippy::cast_sign_loss
            )]
            let budget = (whole as f64 * share * share / 2.0) as u64;
            (items, AllocationInput { budget, envelope, line, fill, ..AllocationInput::plain(&[]) })
        },
    )
}

fn critical(items: &[Candidate]) -> u64 {
    items.iter().filter(|item| item.priority == Priority::Critical).map(|item| item.costs[0]).sum()
}

/// Returns the cost of block `i` in the allocation.
fn paid(items: &[Candidate], allocation: &Allocation, i: usize) -> u64 {
    allocation.chosen[i].map_or(0, |choice| choice.cost(&items[i]))
}

fn walked(items: &[Candidate], input: AllocationInput<'_>) -> Allocation {
    allocate_tiers(with(items, input), &mut Cuts(items))
}

fn with<'a>(candidates: &'a [Candidate], input: AllocationInput<'a>) -> AllocationInput<'a> {
    AllocationInput { candidates, ..input }
}

fn order(items: &[Candidate]) -> Vec<usize> {
    with(items, AllocationInput::plain(&[])).service_order()
}

/// Returns the detail of block `i`. An excerpt counts as a placeholder line, one of passages as the
/// level below the full content, and a block that is not shown comes last.
fn detail(items: &[Candidate], allocation: &Allocation, i: usize) -> usize {
    match allocation.chosen[i] {
        Some(Selection::Level(detail)) => detail,
        Some(Selection::Excerpt { .. }) if items[i].has_passages => 1,
        Some(Selection::Excerpt { .. }) => items[i].content_levels,
        None => items[i].costs.len(),
    }
}

fn rolled_up(items: &[Candidate], allocation: &Allocation) -> bool {
    allocation.outcome == Outcome::Fits
        && order(items).iter().any(|&i| allocation.chosen[i].is_none())
}

/// Returns an upper bound for the cost of the text, with the roll-up line at its maximum cost.
fn planned(items: &[Candidate], input: AllocationInput<'_>, allocation: &Allocation) -> u64 {
    let blocks: u64 = (0..items.len()).map(|i| paid(items, allocation, i)).sum();
    input.envelope + blocks + if rolled_up(items, allocation) { input.line } else { 0 }
}

/// Returns the details of block `i` that are allowed and better than its own.
fn refused(items: &[Candidate], allocation: &Allocation, i: usize) -> std::ops::Range<usize> {
    items[i].ceiling..detail(items, allocation, i).max(items[i].ceiling)
}

/// Returns the outcome of each step of the allocation in order: the first lines, the details up to
/// the ceilings, growth, and Background. Fuller details have lower numbers. A block that is not
/// shown has the highest.
fn steps(items: &[Candidate], allocation: &Allocation) -> Vec<usize> {
    let order = order(items);
    let got = |i: usize| detail(items, allocation, i);
    let up_to_ceiling = |i: usize| got(i).max(items[i].ceiling);
    let small = order.len() <= LINES_FIRST;
    // A line that does not fit at first never fits later, because the remaining budget only
    // shrinks.
    let lines =
        order.iter().filter(|_| small).map(|&i| usize::from(allocation.chosen[i].is_none()));
    // In each tier, content comes before placeholder lines.
    let tiers = order.chunk_by(|&a, &b| items[a].priority == items[b].priority);
    let named = &order[..order.len().min(NAMED_FIRST)];
    let tiers = tiers.flat_map(|tier| {
        let content_levels = tier.iter().map(|&i| match up_to_ceiling(i) {
            level if level < items[i].content_levels || named.contains(&i) => level,
            _ => usize::MAX,
        });
        content_levels.chain(tier.iter().map(|&i| up_to_ceiling(i)))
    });
    let grown = order.iter().filter(|&&i| items[i].may_grow).map(|&i| got(i));
    let background =
        with(items, AllocationInput::plain(&[])).by_rank(BACKGROUND).into_iter().map(got);
    lines.chain(tiers).chain(grown).chain(background).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn outcome_agrees_with_planned_tokens((items, input) in any_case()) {
        let allocation = walked(&items, input);
        let base = input.envelope + critical(&items);
        let planned = planned(&items, input, &allocation);
        match allocation.outcome {
            Outcome::Fits => prop_assert!(planned <= input.budget),
            Outcome::BelowFloor => prop_assert!(critical(&items) == 0 || base <= input.budget),
            Outcome::CriticalExceeds { needed } => {
                prop_assert!(needed == base && planned == base && base > input.budget);
            }
        }
    }

    #[test]
    fn critical_blocks_are_always_full((items, input) in any_case()) {
        let allocation = walked(&items, input);
        for (item, chosen) in items.iter().zip(&allocation.chosen) {
            prop_assert!(item.priority != Priority::Critical || *chosen == Some(Selection::Level(0)));
        }
    }

    /// Checks that a refused step remains too expensive even if lower tiers returned all of their
    /// tokens except those of their first lines.
    #[test]
    fn refused_step_exceeds_tokens_of_lower_tiers((items, input) in any_case()) {
        let allocation = walked(&items, input);
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

    /// Checks that no allowed upgrade fits in the remaining budget.
    #[test]
    fn remaining_budget_fits_no_upgrade((items, input) in any_case()) {
        let allocation = walked(&items, input);
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        let order = order(&items);
        let at_ceiling = order
            .iter()
            .all(|&i| detail(&items, &allocation, i) <= items[i].ceiling);
        for i in 0..items.len() {
            let allowed = match items[i].priority {
                BACKGROUND => input.fill || at_ceiling,
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

    /// Checks that from base + line on, every block except Background ones is shown or counted.
    #[test]
    fn outcome_fits_if_roll_up_line_fits((items, input) in any_case()) {
        let allocation = walked(&items, input);
        let base = input.envelope + critical(&items);
        prop_assert!(input.budget < base + input.line || allocation.outcome == Outcome::Fits);
    }

    /// Checks that with a larger budget, the sequence of step outcomes is not worse in
    /// lexicographic order, and that the total tokens of the blocks do not decrease.
    #[test]
    fn larger_budget_never_yields_a_worse_plan((items, input) in any_case(), more in prop_oneof![Just(1u64), 1u64..50]) {
        let larger = AllocationInput { budget: input.budget + more, ..input };
        let (before, after) = (walked(&items, input), walked(&items, larger));
        prop_assert!(steps(&items, &after) <= steps(&items, &before));
        let sum = |allocation: &Allocation| -> u64 {
            (0..items.len()).map(|i| paid(&items, allocation, i)).sum()
        };
        prop_assert!(sum(&after) >= sum(&before));
    }

    /// Checks that with `fill`, everything is shown in full if the budget allows it.
    #[test]
    fn fill_shows_all_blocks_in_full_if_they_fit((items, input) in any_case()) {
        let whole: u64 = items.iter().map(|item| item.costs[0]).sum();
        let items: Vec<_> = items.into_iter().map(|item| Candidate { ceiling: 0, ..item }).collect();
        let input = AllocationInput { budget: input.envelope + whole, fill: true, ..input };
        let allocation = walked(&items, input);
        prop_assert!(allocation.chosen.iter().all(|chosen| *chosen == Some(Selection::Level(0))));
        prop_assert_eq!(allocation.left, 0);
    }
}

/// The groups, and the block that is served first.
#[derive(Clone, Debug, Default)]
struct Related {
    groups: Vec<Vec<usize>>,
    first: Option<usize>,
}

impl Related {
    fn input<'t>(&'t self, input: AllocationInput<'t>) -> AllocationInput<'t> {
        AllocationInput { groups: &self.groups, first: self.first, ..input }
    }
}

/// Generates a case with groups of two or three blocks, a block that is served first, or both.
fn any_related() -> impl Strategy<Value = (Vec<Candidate>, AllocationInput<'static>, Related)> {
    let places = prop::collection::vec(any::<prop::sample::Index>(), 0..30);
    (any_case(), places, any::<Option<prop::sample::Index>>(), any::<bool>()).prop_map(
        |((mut items, input), places, first, excerpts)| {
            let mut related = Related::default();
            for places in places.chunks(3) {
                let mut members: Vec<_> = places
                    .iter()
                    .filter(|_| !items.is_empty())
                    .map(|place| place.index(items.len()))
                    .collect();
                members.sort_unstable();
                members.dedup();
                members.retain(|&at| items[at].group.is_none());
                let priority = members.iter().map(|&at| items[at].priority).min();
                for &at in members.iter().filter(|_| members.len() > 1) {
                    items[at].group = Some(related.groups.len());
                    items[at].priority = priority.unwrap_or_default();
                }
                if members.len() > 1 {
                    related.groups.push(members);
                }
            }
            let first = first.filter(|_| !items.is_empty()).map(|first| first.index(items.len()));
            let may_be_first =
                |&at: &usize| items[at].priority == Priority::High && items[at].ceiling == 0;
            related.first = first.filter(may_be_first);
            if let Some(first) = related.first {
                items[first].rank = Some(f64::INFINITY);
            }
            (items, AllocationInput { excerpts, ..input }, related)
        },
    )
}

/// Returns the cost of showing block `i`, without its own tokens: the lines of the other blocks in
/// its group.
fn brought_along(items: &[Candidate], related: &Related, allocation: &Allocation, i: usize) -> u64 {
    if allocation.chosen[i].is_some() {
        return 0;
    }
    let group = items[i].group.map(|group| &related.groups[group]);
    let others = group.into_iter().flatten().filter(|&&at| at != i);
    others.map(|&at| *items[at].costs.last().unwrap()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn group_is_shown_completely_or_not_at_all((items, input, related) in any_related()) {
        let allocation = walked(&items, related.input(input));
        for group in &related.groups {
            let shown = group.iter().filter(|&&at| allocation.chosen[at].is_some()).count();
            prop_assert!(shown == 0 || shown == group.len(), "{group:?}");
        }
    }

    #[test]
    fn plan_with_groups_is_bounded_and_complete((items, input, related) in any_related()) {
        let input = related.input(input);
        let allocation = walked(&items, input);
        let base = input.envelope + critical(&items);
        if allocation.outcome == Outcome::Fits {
            prop_assert!(planned(&items, input, &allocation) <= input.budget);
        }
        prop_assert!(input.budget < base + input.line || allocation.outcome == Outcome::Fits);
    }

    /// Checks that no allowed upgrade fits, including the lines of its group.
    #[test]
    fn remaining_budget_fits_no_upgrade_with_groups((items, input, related) in any_related()) {
        let input = AllocationInput { excerpts: false, ..related.input(input) };
        let allocation = walked(&items, input);
        for i in order(&items) {
            let along = brought_along(&items, &related, &allocation, i);
            for detail in refused(&items, &allocation, i) {
                let extra = items[i].costs[detail] - paid(&items, &allocation, i) + along;
                prop_assert!(extra > allocation.left || allocation.outcome != Outcome::Fits);
            }
        }
    }

    /// Checks that the block that is served first gets the fullest detail that fits together with
    /// the fixed blocks and the roll-up line.
    #[test]
    fn first_block_gets_fullest_detail_that_fits((items, input, related) in any_related()) {
        let input = related.input(input);
        let allocation = walked(&items, input);
        let Some(first) = related.first.filter(|_| allocation.outcome == Outcome::Fits) else {
            return Ok(());
        };
        let along = related.groups.get(items[first].group.unwrap_or(usize::MAX));
        let along = along.into_iter().flatten().filter(|&&at| at != first);
        let along: u64 = along.map(|&at| *items[at].costs.last().unwrap()).sum();
        let taken = input.envelope + critical(&items) + input.line + along;
        let fits = |cost: &u64| taken + cost <= input.budget;
        if let Some(best) = items[first].costs.iter().position(fits) {
            let got = detail(&items, &allocation, first);
            prop_assert!(got <= best.max(items[first].ceiling), "{got} of {best}");
        }
    }

    /// Checks that with a larger budget, the block that is served first does not get less, and that
    /// the tokens of the text do not decrease.
    #[test]
    fn larger_budget_never_shrinks_the_first_block((items, input, related) in any_related(), more in 1u64..50) {
        let input = AllocationInput { excerpts: false, groups: &[], ..related.input(input) };
        let items: Vec<_> = items.into_iter().map(|item| Candidate { group: None, ..item }).collect();
        let larger = AllocationInput { budget: input.budget + more, ..input };
        let (before, after) = (walked(&items, input), walked(&items, larger));
        if let Some(first) = input.first {
            prop_assert!(detail(&items, &after, first) <= detail(&items, &before, first));
        }
        let (before, after) = (planned(&items, input, &before), planned(&items, larger, &after));
        prop_assert!(after >= before, "{before} tokens, then {after}");
    }
}

/// Generates a case with shares, some of them capped, with or without excerpts.
fn any_shared()
-> impl Strategy<Value = (Vec<Candidate>, AllocationInput<'static>, Vec<ShareLimits>)> {
    let cap = prop_oneof![3 => Just(u64::MAX), 1 => 0u64..400];
    let share = (prop_oneof![1 => Just(0u32), 4 => 1u32..2_000], cap)
        .prop_map(|(own, cap)| ShareLimits { own, weight: own.max(7), cap });
    let places = prop::collection::vec(any::<prop::sample::Index>(), 200);
    (any_case(), prop::collection::vec(share, 0..5), places, any::<bool>()).prop_map(
        |((mut items, input), shares, places, excerpts)| {
            for (item, place) in items.iter_mut().zip(&places) {
                item.share = place.index(shares.len().max(1));
            }
            (items, AllocationInput { excerpts, ..input }, shares)
        },
    )
}

fn used(items: &[Candidate], allocation: &Allocation, share: usize) -> u64 {
    let of_share = (0..items.len()).filter(|&i| items[i].share == share);
    of_share.map(|i| paid(items, allocation, i)).sum()
}

fn critical_of(items: &[Candidate], share: usize) -> u64 {
    let critical = |item: &&Candidate| item.priority == Priority::Critical && item.share == share;
    items.iter().filter(critical).map(|item| item.costs[0]).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn planned_tokens_stay_within_budget_with_shares((items, input, shares) in any_shared()) {
        let allocation = walked(&items, AllocationInput { shares: &shares, ..input });
        let planned = planned(&items, input, &allocation);
        if allocation.outcome == Outcome::Fits {
            prop_assert!(planned <= input.budget);
        } else {
            prop_assert_eq!(planned, input.envelope + critical(&items));
        }
    }

    #[test]
    fn share_exceeds_its_cap_only_for_critical_blocks((items, input, shares) in any_shared()) {
        let allocation = walked(&items, AllocationInput { shares: &shares, ..input });
        for (at, share) in shares.iter().enumerate() {
            let used = used(&items, &allocation, at);
            prop_assert!(used <= share.cap.max(critical_of(&items, at)), "share {at}: {used}");
        }
    }

    /// Checks that no allowed upgrade fits in the remaining budget under the cap of its share. The
    /// same holds for an excerpt of a block without content.
    #[test]
    fn remaining_budget_fits_no_upgrade_with_shares((items, input, shares) in any_shared()) {
        let allocation = walked(&items, AllocationInput { shares: &shares, ..input });
        if allocation.outcome != Outcome::Fits {
            return Ok(());
        }
        for &i in &order(&items) {
            let cap = shares.get(items[i].share).map_or(u64::MAX, |share| share.cap);
            let under_cap = cap.saturating_sub(used(&items, &allocation, items[i].share));
            let left = allocation.left.min(under_cap);
            let paid = paid(&items, &allocation, i);
            for detail in refused(&items, &allocation, i) {
                prop_assert!(items[i].costs[detail] - paid.min(items[i].costs[detail]) > left
                    || items[i].costs[detail] <= paid, "block {i} detail {detail}");
            }
            let tells = allocation.chosen[i].is_some_and(|choice| choice.has_content(&items[i]));
            if input.excerpts && !tells && items[i].may_be_cut && items[i].ceiling == 0 {
                let most = excerpt_step((paid + left).min(items[i].costs[0] - 1));
                let cut = most.and_then(|most| Cuts(&items).excerpt_cost(i, most));
                prop_assert!(cut.is_none_or(|cost| cost <= paid), "block {i} could be cut");
            }
        }
    }

    /// Checks that from base + line on, every block except Background ones is shown or counted.
    #[test]
    fn outcome_fits_if_roll_up_line_fits_with_shares((items, input, shares) in any_shared()) {
        let allocation = walked(&items, AllocationInput { shares: &shares, ..input });
        let base = input.envelope + critical(&items);
        prop_assert!(input.budget < base + input.line || allocation.outcome == Outcome::Fits);
    }

    /// Checks that a text has content if one excerpt or detail fits together with the roll-up line.
    #[test]
    fn text_has_content_if_an_excerpt_or_level_fits((items, input) in any_case()) {
        let input = AllocationInput { excerpts: true, ..input };
        let allocation = walked(&items, input);
        let left = input.budget.saturating_sub(input.envelope + critical(&items) + input.line);
        let fits = |(i, item): (usize, &Candidate)| {
            let whole = item.costs[..item.content_levels].iter().any(|cost| *cost <= left);
            let most = excerpt_step(left.min(item.costs[0] - 1).min(EXCERPT_FIRST));
            let cut = most.filter(|_| item.may_be_cut).and_then(|most| Cuts(&items).excerpt_cost(i, most));
            whole || cut.is_some()
        };
        if items.iter().enumerate().any(fits) && allocation.outcome == Outcome::Fits {
            prop_assert!(allocation.shown_tokens(&items) > 0);
        }
    }

    /// Checks that without excerpts a share gets its own tokens, as far as it wants them. Blocks of
    /// one token each leave no gaps.
    #[test]
    fn share_gets_its_own_tokens(
        wants in prop::collection::vec((0u32..300, 0usize..300), 1..5),
        budget in 0u64..800,
    ) {
        let mut items = Vec::new();
        for (share, (_, blocks)) in wants.iter().enumerate() {
            let item = Candidate {
                priority: Priority::Normal,
                rank: None,
                costs: [1].into_iter().collect(),
                ceiling: 0,
                content_levels: 1,
                may_grow: false,
                may_be_cut: false,
                has_passages: false,
                share,
                group: None,
                eligibility: Eligibility::Competes,
            };
            items.extend(std::iter::repeat_n(item, *blocks));
        }
        let shares: Vec<_> =
            wants.iter().map(|(own, _)| ShareLimits { own: *own, weight: 150, cap: u64::MAX }).collect();
        let input = AllocationInput { budget, line: 1, ..AllocationInput::plain(&shares) };
        let allocation = walked(&items, input);
        let own: u64 = shares.iter().map(|share| u64::from(share.own)).sum();
        // The first lines of a small pack come before shares.
        if allocation.outcome == Outcome::Fits && items.len() > LINES_FIRST && own < budget {
            for (at, (own, blocks)) in wants.iter().enumerate() {
                let wanted = u64::from(*own).min(*blocks as u64);
                prop_assert!(used(&items, &allocation, at) >= wanted, "share {at}");
            }
        }
    }

    /// Checks that a share gets its own tokens, as far as it wants them, except for a gap that is
    /// smaller than its largest block.
    #[test]
    fn share_gets_its_own_tokens_less_one_block((items, input, shares) in any_shared(), more in 0u64..200) {
        let shares: Vec<_> =
            shares.iter().map(|share| ShareLimits { cap: u64::MAX, ..*share }).collect();
        // Critical blocks and first lines come before shares, so they are left out here.
        let rest = |item: &&Candidate| item.priority != Priority::Critical;
        let items: Vec<_> = items.iter().filter(rest).cloned().collect();
        let own: u64 = shares.iter().map(|share| u64::from(share.own)).sum();
        let budget = input.envelope + input.line + own + more;
        let input = AllocationInput { budget, shares: &shares, excerpts: false, ..input };
        if shares.is_empty() || order(&items).len() <= LINES_FIRST {
            return Ok(());
        }
        let allocation = walked(&items, input);
        for (at, share) in shares.iter().enumerate() {
            let of_share = || order(&items).into_iter().filter(|&i| items[i].share == at);
            let wanted: u64 = of_share().map(|i| items[i].costs[items[i].ceiling]).sum();
            let gap = of_share().map(|i| items[i].costs[0]).max().unwrap_or_default();
            let kept = u64::from(share.own).min(wanted);
            prop_assert!(used(&items, &allocation, at) + gap >= kept, "share {at}");
        }
    }
}
