//! Laws for any segments and any options.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn any_forms() -> impl Strategy<Value = LevelCosts> {
    // Percentages of the full cost. They mostly decrease, but some are too high.
    let part = |most: u32| {
        let part = prop_oneof![4 => 0..most, 1 => 0..most * 3 / 2];
        prop::option::weighted(0.8, part)
    };
    let full = prop_oneof![1 => 0u32..3, 8 => 1u32..1_500];
    (full, part(100), part(60), part(40)).prop_map(|(full, detailed, brief, tags)| {
        let of = |part: Option<u32>| part.map(|part| full * part / 100);
        LevelCosts { full, detailed: of(detailed), brief: of(brief), tags: of(tags) }
    })
}

fn any_segments() -> impl Strategy<Value = Vec<Segment>> {
    let anchors = prop_oneof![3 => Just(Vec::new()), 2 => prop::collection::vec(0.0..5.0, 1..5)];
    let topics = prop::option::weighted(0.3, Just("topic".to_owned()));
    let segment = (any_forms(), anchors, topics).prop_map(|(forms, anchors, topics)| Segment {
        anchors,
        topics: topics.into_iter().collect(),
        ..Segment::new("", forms)
    });
    prop::collection::vec(segment, 0..45).prop_map(|mut segments| {
        for (at, segment) in segments.iter_mut().enumerate() {
            segment.id = format!("s{at}");
        }
        segments
    })
}

fn any_options() -> impl Strategy<Value = BudgetAllocationOptions> {
    (0u32..5_000, 0u32..3_000, 0.0..=1.0, 0usize..6).prop_map(
        |(recent_messages_full_budget, anchor_budget, compression_aggressiveness, min)| {
            BudgetAllocationOptions {
                recent_messages_full_budget,
                anchor_budget,
                compression_aggressiveness,
                min_segments_at_brief: min,
            }
        },
    )
}

/// Returns a focus on a topic or without one, with some of the segments expanded.
fn focus(segments: &[Segment], seed: u64) -> PreferredSegments {
    let topics = if seed.is_multiple_of(3) { vec!["topic".to_owned()] } else { Vec::new() };
    let is_expanded = |at: usize| (seed >> (at % 60)) & 0b1111 == 1;
    let expanded = (0..segments.len()).filter(|at| is_expanded(*at));
    PreferredSegments { topics, expanded: expanded.map(|at| segments[at].id.clone()).collect() }
}

fn cost_is_right(segments: &[Segment], allocation: &LevelAllocation) -> bool {
    allocation.segments.iter().all(|found| {
        let segment = segments.iter().find(|segment| segment.id == found.segment_id);
        segment.and_then(|segment| segment.costs.cost(found.level)) == Some(found.allocated_tokens)
    })
}

/// Checks the properties of any allocation within `budget`.
fn check(
    segments: &[Segment],
    budget: u32,
    allocation: &LevelAllocation,
) -> Result<(), TestCaseError> {
    prop_assert!(allocation.used_tokens <= budget);
    prop_assert_eq!(allocation.used_tokens + allocation.remaining_tokens, budget);
    let sum: u32 = allocation.segments.iter().map(|found| found.allocated_tokens).sum();
    prop_assert_eq!(sum, allocation.used_tokens);
    for (level, tokens) in &allocation.tokens_by_level {
        let of = allocation.segments.iter().filter(|found| found.level == *level);
        prop_assert_eq!(of.map(|found| found.allocated_tokens).sum::<u32>(), *tokens);
    }
    prop_assert_eq!(allocation.tokens_by_level.values().sum::<u32>(), sum);
    prop_assert!(cost_is_right(segments, allocation));
    let shown = allocation.segments.iter().map(|found| &found.segment_id);
    let ids: BTreeSet<_> = shown.chain(&allocation.omitted).collect();
    prop_assert_eq!(ids.len(), allocation.segments.len() + allocation.omitted.len());
    prop_assert_eq!(ids, segments.iter().map(|segment| &segment.id).collect());
    // No form of an omitted segment fits into the remaining tokens, apart from the part that is not
    // to be spent.
    for id in &allocation.omitted {
        let segment = segments.iter().find(|segment| segment.id == *id);
        let costs = CompressionLevel::ALL.map(|level| segment.and_then(|s| s.costs.cost(level)));
        prop_assert!(costs[2..].iter().flatten().all(|cost| *cost > allocation.remaining_tokens));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn every_allocation_adds_up(
        segments in any_segments(), budget in 0u32..20_000, options in any_options(), seed: u64,
    ) {
        let focus = focus(&segments, seed);
        let allocation = allocate(&segments, budget, &options, &focus).unwrap();
        check(&segments, budget, &allocation)?;
        prop_assert_eq!(&allocation, &allocate(&segments, budget, &options, &focus).unwrap());
        for id in focus.expanded.iter().filter(|_| focus.expanded.len() == 1) {
            let full = segments.iter().find(|s| s.id == *id).map_or(0, |s| s.costs.full);
            let found = allocation.get(id).map(|found| found.allocated_tokens);
            prop_assert!(full > budget || found == Some(full));
        }
    }
}

/// Returns a budget around the cost of the last two segments in full.
fn tight_budget(segments: &[Segment], percent: u32) -> u32 {
    segments.iter().rev().take(2).map(|segment| segment.costs.full).sum::<u32>() * percent / 100
}

/// Checks that the last two segments are full whenever that fits, the newest first. `taken` tokens
/// are used by expanded segments.
fn check_recent(
    segments: &[Segment],
    budget: u32,
    taken: u32,
    allocation: &LevelAllocation,
) -> Result<(), TestCaseError> {
    let mut left = budget.saturating_sub(taken);
    for segment in segments.iter().rev().take(2) {
        let found = allocation.get(&segment.id);
        if segment.costs.full <= left {
            prop_assert_eq!(found.map(|found| found.level), Some(CompressionLevel::Full));
        }
        left = left.saturating_sub(found.map_or(0, |found| found.allocated_tokens));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    /// No older segment gets tokens that the last two need to be full.
    #[test]
    fn newest_two_segments_are_full_whenever_they_fit(
        segments in any_segments(),
        percents in (30u32..250, 30u32..250),
        options in any_options(),
        topics: bool,
        expanded: prop::sample::Index,
    ) {
        let topics = if topics { vec!["topic".to_owned()] } else { Vec::new() };
        let mut focus = PreferredSegments { topics, ..PreferredSegments::default() };
        let before = tight_budget(&segments, percents.0);
        let current = allocate(&segments, before, &options, &focus).unwrap();
        check_recent(&segments, before, 0, &current)?;
        // After another budget and the expansion of an older segment too.
        let budget = tight_budget(&segments, percents.1);
        let next = lcp_driver::segments::rebalance(&segments, &current, budget, &options, &focus);
        check_recent(&segments, budget, 0, &next.unwrap())?;
        prop_assume!(segments.len() > 2);
        let older = &segments[expanded.index(segments.len() - 2)];
        focus.expanded.push(older.id.clone());
        let next = allocate(&segments, budget, &options, &focus).unwrap();
        let taken = next.get(&older.id).map_or(0, |found| found.allocated_tokens);
        check_recent(&segments, budget, taken, &next)?;
    }
}

mod rebalancing {
    use lcp_driver::segments::rebalance;

    use super::*;

    fn tokens(allocation: &LevelAllocation, id: &str) -> u32 {
        allocation.get(id).map_or(0, |found| found.allocated_tokens)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

        #[test]
        fn rebalance_without_changes_is_the_identity(
            segments in any_segments(), budget in 0u32..20_000, options in any_options(), seed: u64,
        ) {
            let focus = focus(&segments, seed);
            let current = allocate(&segments, budget, &options, &focus).unwrap();
            let again = rebalance(&segments, &current, budget, &options, &focus).unwrap();
            prop_assert_eq!(again, current);
        }

        /// From any current allocation, adapting it a second time changes nothing.
        #[test]
        fn rebalance_is_idempotent(
            segments in any_segments(),
            known in 0usize..45,
            budgets in (0u32..20_000, 0u32..20_000),
            options in (any_options(), any_options()),
            seeds: (u64, u64),
        ) {
            let known = &segments[..known.min(segments.len())];
            let before = focus(known, seeds.0);
            let current = allocate(known, budgets.0, &options.0, &before).unwrap();
            let (budget, options, focus) = (budgets.1, options.1, focus(&segments, seeds.1));
            let once = rebalance(&segments, &current, budget, &options, &focus).unwrap();
            check(&segments, budget, &once)?;
            let twice = rebalance(&segments, &once, budget, &options, &focus).unwrap();
            prop_assert_eq!(twice, once);
        }

        /// After an expansion the budget holds, the expanded segment has as much as fits, and
        /// others change only if not everything fits.
        #[test]
        fn expansion_changes_others_only_if_necessary(
            segments in any_segments(), budget in 0u32..20_000, options in any_options(), at: prop::sample::Index,
        ) {
            prop_assume!(!segments.is_empty());
            let at = at.index(segments.len());
            let (id, full) = (&segments[at].id, segments[at].costs.full);
            let current = allocated(&segments, budget, &options);
            let expanded = rebalance(&segments, &current, budget, &options, &expanding(id)).unwrap();
            check(&segments, budget, &expanded)?;
            prop_assert!(full > budget || tokens(&expanded, id) == full);
            let others = current.used_tokens - tokens(&current, id);
            let is_recent = at + 2 >= segments.len();
            if !is_recent && others.saturating_add(full) <= budget {
                for segment in segments.iter().filter(|segment| segment.id != *id) {
                    prop_assert_eq!(tokens(&expanded, &segment.id), tokens(&current, &segment.id));
                }
            }
        }

        /// Among segments with the same costs and levels, those that are served later are shortened
        /// first: the oldest.
        #[test]
        fn older_equal_segments_are_shortened_first(
            count in 3usize..40, budget in 0u32..20_000, options in any_options(), at: prop::sample::Index,
        ) {
            let segments = segments(vec![costs(700, 300, 100, 10); count]);
            let at = at.index(count - 2);
            let current = allocated(&segments, budget, &options);
            let focus = expanding(&segments[at].id);
            let expanded = rebalance(&segments, &current, budget, &options, &focus).unwrap();
            let others: Vec<_> = (0..count - 2).filter(|other| *other != at).collect();
            for pair in others.windows(2) {
                let (older, newer) = (&segments[pair[0]].id, &segments[pair[1]].id);
                if tokens(&current, older) == tokens(&current, newer) {
                    prop_assert!(tokens(&expanded, older) <= tokens(&expanded, newer));
                }
            }
        }
    }
}
