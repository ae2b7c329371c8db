//! Each reason alone changes a segment's level.

use lcp_driver::segments::AllocationReason::{self, Baseline, Recent};

use super::*;

fn reasons(allocation: &LevelAllocation) -> Vec<AllocationReason> {
    allocation.segments.iter().map(|segment| segment.reason).collect()
}

fn same(count: usize) -> Vec<Segment> {
    segments(vec![costs(500, 200, 100, 10); count])
}

#[test]
fn last_two_segments_have_reason_recent() {
    let mut segments = same(4);
    let allocation = allocated(&segments, 10_000, &unlifted());
    assert_eq!(levels(&segments, &allocation), "BBFF");
    assert_eq!(reasons(&allocation), [Baseline, Baseline, Recent, Recent]);
    // The same segment at another position is not recent.
    segments.rotate_right(1);
    let moved = allocated(&segments, 10_000, &unlifted());
    assert_eq!(moved.get("s4").unwrap().level, CompressionLevel::Brief);
    assert_eq!(moved.get("s2").unwrap().level, CompressionLevel::Full);
}

#[test]
fn anchored_segments_have_reason_contains_anchors() {
    let mut segments = same(4);
    segments[0].anchors = vec![0.0];
    let allocation = allocated(&segments, 10_000, &unlifted());
    assert_eq!(levels(&segments, &allocation), "DBFF");
    assert_eq!(reasons(&allocation)[0], AllocationReason::ContainsAnchors);
}

#[test]
fn anchors_are_served_by_importance_then_recency() {
    let mut segments = same(6);
    for (segment, importance) in segments.iter_mut().zip([0.2, 0.9, 0.2]) {
        segment.anchors = vec![importance];
    }
    let options = BudgetAllocationOptions { min_segments_at_brief: 0, ..unlifted() };
    let at = |budget| levels(&segments, &allocated(&segments, budget, &options));
    // All segments get their tags before any gets more.
    assert_eq!(at(1_029), "-TT-FF");
    assert_eq!(at(1_210), "TBB-FF");
    assert_eq!(at(1_220), "TDT-FF");
    assert_eq!(at(1_410), "TDD-FF");
    assert_eq!(at(1_600), "DDD-FF");
}

#[test]
fn three_many_anchor_segments_precede_brief_ones() {
    let mut segments = same(8);
    for (segment, importance) in segments.iter_mut().zip([5.0, 1.0, 3.0, 2.0]) {
        segment.anchors = vec![importance; 3];
    }
    // The tokens that the last two leave are used for three segments in detail.
    let allocation = allocated(&segments, 1_600, &unlifted());
    assert_eq!(levels(&segments, &allocation), "D-DD--FF");
    // Then the first ones follow in brief, before the fourth.
    let allocation = allocated(&segments, 1_800, &unlifted());
    assert_eq!(levels(&segments, &allocation), "D-DDBBFF");
    let allocation = allocated(&segments, 2_000, &unlifted());
    assert_eq!(levels(&segments, &allocation), "DDDDBBFF");
}

#[test]
fn segments_with_focus_topic_have_reason_topic_relevant() {
    let mut segments = same(5);
    segments[0].topics = vec!["parser".into(), "wire".into()];
    segments[1].topics = vec!["Wire".into()];
    let of = |topics: &[&str]| {
        let topics = topics.iter().map(|topic| (*topic).to_owned()).collect();
        let focus = PreferredSegments { topics, ..PreferredSegments::default() };
        allocate(&segments, 10_000, &unlifted(), &focus).unwrap()
    };
    assert_eq!(levels(&segments, &of(&[])), "BBBFF");
    let wire = of(&["budget", "wire"]);
    assert_eq!(levels(&segments, &wire), "DBBFF");
    assert_eq!(reasons(&wire)[0], AllocationReason::TopicRelevant);
    // Anchors come first, and are the reason if both apply.
    segments[0].anchors = vec![1.0];
    let focus = PreferredSegments { topics: vec!["wire".into()], ..PreferredSegments::default() };
    let both = allocate(&segments, 10_000, &unlifted(), &focus).unwrap();
    assert_eq!(reasons(&both)[0], AllocationReason::ContainsAnchors);
}

#[test]
fn anchors_come_before_topics() {
    let mut segments = same(4);
    segments[0].anchors = vec![0.0];
    segments[1].topics = vec!["wire".into()];
    let focus = PreferredSegments { topics: vec!["wire".into()], ..PreferredSegments::default() };
    let allocation = allocate(&segments, 1_210, &unlifted(), &focus).unwrap();
    assert_eq!(levels(&segments, &allocation), "DTFF");
}

#[test]
fn expanded_segment_comes_first_and_in_full() {
    let segments = same(5);
    let of = |budget, focus: &PreferredSegments| {
        let allocation = allocate(&segments, budget, &unlifted(), focus).unwrap();
        levels(&segments, &allocation)
    };
    assert_eq!(of(1_400, &PreferredSegments::default()), "BBBFF");
    assert_eq!(of(1_400, &expanding("s2")), "BFBDF");
    // An expanded segment comes before the last two.
    assert_eq!(of(500, &expanding("s2")), "-F---");
    // The last segment can also be expanded. Then the one before it is recent.
    assert_eq!(of(1_000, &expanding("s5")), "---FF");
    let allocation = allocate(&segments, 1_000, &unlifted(), &expanding("s5")).unwrap();
    assert_eq!(reasons(&allocation), [AllocationReason::Recent, AllocationReason::Expanded]);
}

#[test]
fn baseline_serves_newest_segments_first_in_brief() {
    let segments = same(7);
    let at = |budget| levels(&segments, &allocated(&segments, budget, &unlifted()));
    assert_eq!(at(1_100), "----BFF");
    assert_eq!(at(1_300), "--BBBFF");
    // After the first three, all get tags before any gets more.
    assert_eq!(at(1_320), "TTBBBFF");
    assert_eq!(at(1_410), "TBBBBFF");
    assert_eq!(at(1_500), "BBBBBFF");
    let allocation = allocated(&segments, 1_500, &unlifted());
    assert_eq!(reasons(&allocation)[0], AllocationReason::Baseline);
}
