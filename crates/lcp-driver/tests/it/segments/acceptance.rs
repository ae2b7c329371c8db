//! The acceptance criteria and scenarios of Token Budget Manager.

use lcp_driver::segments::AllocationReason;

use super::*;

/// Scenario: recent messages get full allocation.
#[test]
fn recent_messages_get_full_allocation() {
    // The costs are below the caps, and above them; the older segments have anchors or not.
    for full in [700, 1_000, 1_400, 2_000, 3_000, 4_000] {
        for anchored in [0, 8] {
            let mut segments = segments([costs(full, full / 2, full / 4, 20); 10]);
            for segment in &mut segments[..anchored] {
                segment.anchors = vec![1.0; 3];
            }
            let allocation = allocated(&segments, 8_000, &BudgetAllocationOptions::default());
            let last = &allocation.segments[allocation.segments.len() - 2..];
            for (segment, id) in last.iter().zip(["s9", "s10"]) {
                assert_eq!(segment.segment_id, id);
                assert_eq!(segment.level, CompressionLevel::Full, "{full} {anchored}");
                assert_eq!(segment.allocated_tokens, full);
                assert_eq!(segment.reason, AllocationReason::Recent);
            }
        }
    }
}

/// Criterion 1: recent segments have the highest priority, at level Full.
#[test]
fn recent_segments_have_the_highest_priority() {
    let mut segments = segments([costs(900, 500, 100, 10); 6]);
    for segment in &mut segments[..4] {
        segment.anchors = vec![9.0; 5];
    }
    let at = |budget| levels(&segments, &allocated(&segments, budget, &unlifted()));
    // The last two use the whole budget, down to their own lower forms.
    assert_eq!(at(1_800), "----FF");
    assert_eq!(at(900), "-----F");
    assert_eq!(at(1_000), "----BF");
    assert_eq!(at(899), "TTBBBD");
}

/// Criterion 1, for segments that are larger than the caps of the last two.
#[test]
fn large_recent_segments_are_full_before_older_ones_are_detailed() {
    let options = BudgetAllocationOptions::default();
    let detailed = |full| LevelCosts { detailed: Some(800), ..LevelCosts::full(full) };
    let mut anchored = segments([detailed(3_000); 10]);
    for segment in &mut anchored[..8] {
        segment.anchors = vec![1.0];
    }
    let allocation = allocated(&anchored, 8_000, &options);
    assert_eq!(levels(&anchored, &allocation), "------DDFF");
    assert_eq!(allocation.used_tokens, 7_600);

    let plain = segments([detailed(1_500); 10]);
    let at = |budget| levels(&plain, &allocated(&plain, budget, &options));
    assert_eq!(at(3_900), "-------DFF");
    assert_eq!(at(3_000), "--------FF");
    // Only one of them fits in full.
    assert_eq!(at(2_999), "--------DF");
}

/// Criterion 2: segments with anchors are at least at level Detailed.
#[test]
fn segments_with_anchors_are_at_least_detailed() {
    let mut segments = segments([costs(1_000, 400, 100, 10); 12]);
    // More than three segments have anchors, from one to seven each, all of importance 0.
    for (at, anchors) in [(0, 1), (2, 3), (3, 7), (5, 2), (6, 4), (8, 5)] {
        segments[at].anchors = vec![0.0; anchors];
    }
    let allocation = allocated(&segments, 5_000, &unlifted());
    assert_eq!(levels(&segments, &allocation), "DBDDBDDBDBFF");
    // Other segments are shortened first, except the first three, which stay at Brief.
    let at = |budget| levels(&segments, &allocated(&segments, budget, &unlifted()));
    assert_eq!(at(4_700), "D-DDBDDBDBFF");
    // If they do not fit, the budget takes precedence.
    assert_eq!(at(4_500), "BBDDBDDBDBFF");
}

/// Criterion 3: the allocation does not exceed the budget.
#[test]
fn total_allocation_does_not_exceed_the_budget() {
    let mut segments = segments([costs(3_000, 900, 300, 30); 20]);
    for segment in &mut segments[..9] {
        segment.anchors = vec![1.0; 4];
    }
    for budget in (0..30_000).step_by(97) {
        let allocation = allocated(&segments, budget, &BudgetAllocationOptions::default());
        assert!(allocation.used_tokens <= budget);
        assert_eq!(allocation.used_tokens + allocation.remaining_tokens, budget);
        let sum: u32 = allocation.segments.iter().map(|segment| segment.allocated_tokens).sum();
        assert_eq!(sum, allocation.used_tokens);
        assert_eq!(allocation.tokens_by_level.values().sum::<u32>(), sum);
    }
}

/// Returns ten segments that use 7,000 of 8,000 tokens.
fn conversation() -> (Vec<Segment>, BudgetAllocationOptions) {
    let mut all = [costs(1_200, 700, 300, 50); 10];
    all[2] = costs(2_200, 1_500, 200, 50);
    (all[8], all[9]) = (costs(1_000, 500, 300, 50), costs(1_000, 500, 300, 50));
    let options =
        BudgetAllocationOptions { compression_aggressiveness: 0.25, ..Default::default() };
    (segments(all), options)
}

/// Scenario: budget rebalancing after expansion. Criterion 4: after an
/// expansion the budget is rebalanced to make room.
#[test]
fn budget_rebalancing_after_expansion() {
    use lcp_driver::segments::rebalance;

    let (segments, options) = conversation();
    let current = allocated(&segments, 8_000, &options);
    assert_eq!(current.used_tokens, 7_000);
    assert_eq!(levels(&segments, &current), "BBBBBFFFFF");
    let expanded = rebalance(&segments, &current, 8_000, &options, &expanding("s3")).unwrap();
    let found = expanded.get("s3").unwrap();
    assert_eq!((found.level, found.allocated_tokens), (CompressionLevel::Full, 2_200));
    assert_eq!(found.allocated_tokens - current.get("s3").unwrap().allocated_tokens, 2_000);
    assert_eq!(found.reason, AllocationReason::Expanded);
    // The total is 1,000 tokens too large, so the older ones of the full segments are shortened.
    assert_eq!(levels(&segments, &expanded), "BBFBBDDFFF");
    assert!(expanded.used_tokens <= 8_000);
}
