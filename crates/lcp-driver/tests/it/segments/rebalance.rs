//! Rebalancing: adapting the current allocation.

use lcp_driver::segments::{AllocationReason, rebalance};

use super::*;

fn same(count: usize) -> Vec<Segment> {
    segments(vec![costs(500, 200, 100, 10); count])
}

fn rebalanced(
    segments: &[Segment],
    current: &LevelAllocation,
    budget: u32,
    focus: &PreferredSegments,
) -> LevelAllocation {
    rebalance(segments, current, budget, &unlifted(), focus).unwrap()
}

#[test]
fn other_segments_are_unchanged_while_all_fits() {
    let segments = same(6);
    let options = BudgetAllocationOptions::default();
    let current = allocated(&segments, 2_500, &options);
    assert_eq!(levels(&segments, &current), "BBDFFF");
    let expanded = rebalance(&segments, &current, 2_500, &options, &expanding("s1")).unwrap();
    assert_eq!(levels(&segments, &expanded), "FBDFFF");
    assert_eq!(expanded.segments[1..], current.segments[1..]);
}

#[test]
fn oldest_segments_are_shortened_first() {
    let segments = same(8);
    let options = BudgetAllocationOptions::default();
    let current = allocated(&segments, 3_300, &options);
    assert_eq!(levels(&segments, &current), "BBBBFFFF");
    let expanded = |budget| {
        let expanded = rebalance(&segments, &current, budget, &options, &expanding("s1"));
        levels(&segments, &expanded.unwrap())
    };
    assert_eq!(expanded(2_800), "FBBBFFFF");
    assert_eq!(expanded(2_400), "FBBBBFFF");
    assert_eq!(expanded(1_700), "F---BBFF");
}

#[test]
fn new_messages_replace_the_recent_segments() {
    let before = same(4);
    let current = allocated(&before, 1_300, &unlifted());
    assert_eq!(levels(&before, &current), "BBFF");
    let after = same(6);
    let next = rebalanced(&after, &current, 1_300, &PreferredSegments::default());
    // A full segment keeps only as much as fits.
    assert_eq!(levels(&after, &next), "-BBBFF");
    assert_eq!(next.get("s6").unwrap().reason, AllocationReason::Recent);
    assert_eq!(next.get("s4").unwrap().reason, AllocationReason::Baseline);
    let next = rebalanced(&after, &current, 5_000, &PreferredSegments::default());
    assert_eq!(levels(&after, &next), "BBFFFF");
}

#[test]
fn removed_segments_free_their_tokens() {
    let before = same(6);
    let current = allocated(&before, 1_210, &unlifted());
    assert_eq!(levels(&before, &current), "-TBBFF");
    // Segments that were omitted are shown now.
    let next = rebalanced(&before[..4], &current, 1_210, &PreferredSegments::default());
    assert_eq!(levels(&before[..4], &next), "BBFF");
    assert_eq!(next.segments.len() + next.omitted.len(), 4);
}

#[test]
fn larger_budget_grants_base_levels_without_lifting() {
    let mut segments = same(6);
    segments[0].anchors = vec![1.0];
    let current = allocated(&segments, 700, &BudgetAllocationOptions::default());
    let options = BudgetAllocationOptions { compression_aggressiveness: 0.0, ..unlifted() };
    let next =
        rebalance(&segments, &current, 100_000, &options, &PreferredSegments::default()).unwrap();
    assert_eq!(levels(&segments, &next), "DBBBFF");
    // A new allocation lifts all of them.
    assert_eq!(levels(&segments, &allocated(&segments, 100_000, &options)), "FFFFFF");
}

#[test]
fn new_segments_are_lifted_with_remaining_tokens() {
    let current = allocated(&same(2), 5_000, &unlifted());
    let after = same(6);
    let options = BudgetAllocationOptions { compression_aggressiveness: 0.0, ..unlifted() };
    let next = rebalance(&after, &current, 2_600, &options, &PreferredSegments::default()).unwrap();
    assert_eq!(levels(&after, &next), "FFBFFF");
    let next = rebalance(&after, &current, 3_000, &options, &PreferredSegments::default()).unwrap();
    assert_eq!(levels(&after, &next), "FFFFFF");
    let next = rebalanced(&after, &current, 3_000, &PreferredSegments::default());
    assert_eq!(levels(&after, &next), "FFBBFF");
}

#[test]
fn expanded_segment_stays_full_while_there_is_room() {
    let segments = same(4);
    let focus = expanding("s1");
    let current = allocate(&segments, 1_600, &unlifted(), &focus).unwrap();
    assert_eq!(levels(&segments, &current), "FBFF");
    let next = rebalanced(&segments, &current, 1_600, &PreferredSegments::default());
    assert_eq!(levels(&segments, &next), "FBFF");
    assert_eq!(next.get("s1").unwrap().reason, AllocationReason::Baseline);
    let next = rebalanced(&segments, &next, 1_600, &expanding("s2"));
    assert_eq!(levels(&segments, &next), "BFFF");
}
