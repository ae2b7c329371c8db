//! Why each segment is served, when, and up to which form.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::allocation::AllocationReason;
use super::choices::Choices;
use super::options::BudgetAllocationOptions;
use super::segment::{CompressionLevel, Focus, Segment};

/// How many segments at the end are recent.
const RECENT: usize = 2;

/// How many segments with many anchors are served at once.
const ANCHORED_AT_ONCE: usize = 3;

/// A segment with more anchors than these has many.
const FEW_ANCHORS: usize = 2;

/// When a segment is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Expanded,
    Recent,
    /// The most important of those with many anchors, each of them small.
    Anchored,
    /// The newest of those that nothing else speaks for.
    FirstBrief,
    /// All others with anchors, then those with a topic of the focus.
    Detailed,
    Brief,
}

impl Group {
    /// Whether each of the group gets its tags before any gets more. Those
    /// before it are too few, or too important, to be thinned out.
    pub(super) fn is_thinned(self) -> bool {
        self >= Self::Detailed
    }
}

/// The turn of one segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    /// The segment.
    pub(super) at: usize,
    pub(super) group: Group,
    pub(super) reason: AllocationReason,
    /// The fullest choice that its turn gives.
    pub(super) target: usize,
    /// The importance of its anchors, where they are the reason.
    importance: f64,
}

impl Turn {
    /// By group, then anchors before topics, then importance, then the newest.
    fn order(&self, other: &Self) -> Ordering {
        (self.group, self.reason)
            .cmp(&(other.group, other.reason))
            .then(other.importance.total_cmp(&self.importance))
            .then(other.at.cmp(&self.at))
    }
}

/// The turns of all segments, in their order.
pub(super) fn turns(
    segments: &[Segment],
    choices: &[Choices],
    options: &BudgetAllocationOptions,
    focus: &Focus,
) -> Vec<Turn> {
    let expanded: HashSet<&str> = focus.expanded.iter().map(String::as_str).collect();
    let topics: HashSet<&str> = focus.topics.iter().map(String::as_str).collect();
    let recent_from = segments.len().saturating_sub(RECENT);
    let turn = |(at, segment): (usize, &Segment)| {
        let forms = &choices[at];
        let (group, reason, target) = if expanded.contains(segment.id.as_str()) {
            (Group::Expanded, AllocationReason::Expanded, 0)
        } else if at >= recent_from {
            (Group::Recent, AllocationReason::Recent, forms.within(options.recent_cap()))
        } else if !segment.anchors.is_empty() {
            let target = forms.at_least(CompressionLevel::Detailed);
            (Group::Detailed, AllocationReason::ContainsAnchors, target)
        } else if segment.topics.iter().any(|topic| topics.contains(topic.as_str())) {
            let target = forms.at(CompressionLevel::Detailed);
            (Group::Detailed, AllocationReason::TopicRelevant, target)
        } else {
            (Group::Brief, AllocationReason::Baseline, forms.at(CompressionLevel::Brief))
        };
        let anchored = reason == AllocationReason::ContainsAnchors;
        let importance = if anchored { segment.anchors.iter().sum() } else { 0.0 };
        Turn { at, group, reason, target, importance }
    };
    let mut turns: Vec<_> = segments.iter().enumerate().map(turn).collect();
    turns.sort_by(Turn::order);
    let at_once = |turn: &&mut Turn| {
        turn.reason == AllocationReason::ContainsAnchors
            && segments[turn.at].anchors.len() > FEW_ANCHORS
            && choices[turn.at].get(turn.target).1 <= options.anchor_cap()
    };
    for turn in turns.iter_mut().filter(at_once).take(ANCHORED_AT_ONCE) {
        turn.group = Group::Anchored;
    }
    let baseline = |turn: &&mut Turn| turn.reason == AllocationReason::Baseline;
    for turn in turns.iter_mut().filter(baseline).take(options.min_segments_at_brief) {
        turn.group = Group::FirstBrief;
    }
    turns.sort_by(Turn::order);
    turns
}
