//! The assignment of compression levels to segments, phase by phase, with the ledger of the budget
//! engine.

use std::cmp::Ordering;
use std::collections::HashSet;

use lcp_types::Priority;

use super::segment::{
    AllocationReason, BudgetAllocationOptions, CompressionLevel, LevelCosts, PreferredSegments,
    Segment,
};
use crate::allocate::{BudgetLedger, Candidate, Eligibility, Selection};
use crate::cost::DetailCosts;
use crate::detail::DetailLevel;
use crate::fixed_point::BILLION;

/// The useful forms of a segment: without those that cost no less than a fuller one.
#[derive(Clone, Debug)]
pub(super) struct LevelChoices(DetailCosts);

impl LevelChoices {
    pub(super) fn new(costs: LevelCosts) -> Self {
        let LevelCosts { full, detailed, brief, tags } = costs;
        Self(DetailCosts::new(full, [Some(full), detailed, brief, tags, None]))
    }

    pub(super) fn get(&self, choice: usize) -> (CompressionLevel, u32) {
        let (level, cost) = self.0.details[choice];
        (CompressionLevel::ALL[level as usize], cost)
    }

    fn costs(&self) -> impl Iterator<Item = u32> {
        self.0.details.iter().map(|(_, cost)| *cost)
    }

    fn last(&self) -> usize {
        self.0.details.len() - 1
    }

    fn above_tags(&self) -> usize {
        self.0.details.iter().filter(|(level, _)| *level < DetailLevel::Tags).count()
    }

    /// Returns the choice that shows a level, else the next lower one, else the next fuller one.
    pub(super) fn at(&self, level: CompressionLevel) -> usize {
        let detail = DetailLevel::ALL[level as usize];
        if self.0.all().any(|(other, _)| other == detail) {
            return self.at_least(level);
        }
        let lower = self.0.details.iter().position(|(other, _)| *other > detail);
        lower.unwrap_or(self.last())
    }

    /// Returns the nearest choice for a level or a fuller one.
    fn at_least(&self, level: CompressionLevel) -> usize {
        self.0.max_level(DetailLevel::ALL[level as usize])
    }

    /// Returns the fullest choice that costs at most `max`, else the last one.
    fn within(&self, max: u32) -> usize {
        self.costs().position(|cost| cost <= max).unwrap_or(self.last())
    }

    /// Returns the forms that cost more than a fuller one, each with both costs.
    pub(super) fn dominated(&self) -> impl Iterator<Item = (CompressionLevel, u32, u32)> {
        let dominated = self.0.dominated();
        dominated.map(|(level, cost, fuller)| (CompressionLevel::ALL[level as usize], cost, fuller))
    }
}

/// The number of recent segments at the end.
pub(crate) const RECENT: usize = 2;

const ANCHORED_MAX: usize = 3;

/// A segment with more anchors than these has many.
const FEW_ANCHORS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Expanded,
    Recent,
    /// The most important segments with many anchors, if they are small.
    Anchored,
    /// The newest baseline segments.
    FirstBrief,
    /// All other segments with anchors, then those with a topic of the focus.
    Detailed,
    Brief,
}

impl Phase {
    /// Returns whether every segment of the phase gets its tags before any gets more.
    fn assigns_tags_first(self) -> bool {
        self >= Self::Detailed
    }
}

/// The request of one segment: its phase and the fullest form that it may get there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) at: usize,
    phase: Phase,
    pub(super) reason: AllocationReason,
    /// The fullest choice of its phase; for a recent segment, if it does not fit in full.
    target: usize,
    /// The importance of its anchors, if they are the reason.
    importance: f64,
}

impl Request {
    /// Orders by phase, then anchors before topics, then importance, then the newest.
    fn order(&self, other: &Self) -> Ordering {
        (self.phase, self.reason)
            .cmp(&(other.phase, other.reason))
            .then(other.importance.total_cmp(&self.importance))
            .then(other.at.cmp(&self.at))
    }
}

/// Returns the requests of all segments, in the order of their assignment.
pub(super) fn requests(
    segments: &[Segment],
    choices: &[LevelChoices],
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
) -> Vec<Request> {
    let expanded: HashSet<&str> = focus.expanded.iter().map(String::as_str).collect();
    let topics: HashSet<&str> = focus.topics.iter().map(String::as_str).collect();
    let recent_from = segments.len().saturating_sub(RECENT);
    let request = |(at, segment): (usize, &Segment)| {
        let choices = &choices[at];
        let (phase, reason, target) = if expanded.contains(segment.id.as_str()) {
            (Phase::Expanded, AllocationReason::Expanded, 0)
        } else if at >= recent_from {
            (Phase::Recent, AllocationReason::Recent, choices.within(options.recent_cap()))
        } else if !segment.anchors.is_empty() {
            let target = choices.at_least(CompressionLevel::Detailed);
            (Phase::Detailed, AllocationReason::ContainsAnchors, target)
        } else if segment.topics.iter().any(|topic| topics.contains(topic.as_str())) {
            let target = choices.at(CompressionLevel::Detailed);
            (Phase::Detailed, AllocationReason::TopicRelevant, target)
        } else {
            (Phase::Brief, AllocationReason::Baseline, choices.at(CompressionLevel::Brief))
        };
        let anchored = reason == AllocationReason::ContainsAnchors;
        let importance = if anchored { segment.anchors.iter().sum() } else { 0.0 };
        Request { at, phase, reason, target, importance }
    };
    let mut requests: Vec<_> = segments.iter().enumerate().map(request).collect();
    requests.sort_by(Request::order);
    let is_anchored = |request: &&mut Request| {
        request.reason == AllocationReason::ContainsAnchors
            && segments[request.at].anchors.len() > FEW_ANCHORS
            && choices[request.at].get(request.target).1 <= options.anchor_cap()
    };
    for request in requests.iter_mut().filter(is_anchored).take(ANCHORED_MAX) {
        request.phase = Phase::Anchored;
    }
    let baseline = |request: &&mut Request| request.reason == AllocationReason::Baseline;
    for request in requests.iter_mut().filter(baseline).take(options.min_segments_at_brief) {
        request.phase = Phase::FirstBrief;
    }
    requests.sort_by(Request::order);
    requests
}

/// The current state of a segment, before the assignment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Current {
    New,
    Omitted,
    /// This choice of it is shown.
    Form(usize),
}

/// The forms of all segments, and the remaining tokens.
pub(super) struct Assignment {
    chosen: Vec<Option<Selection>>,
    pub(super) remaining: u64,
}

impl Assignment {
    /// Returns the choice for segment `at`.
    pub(super) fn choice(&self, at: usize, choices: &LevelChoices) -> Option<usize> {
        match self.chosen[at] {
            Some(Selection::Level(choice)) => Some(choice),
            // A form that costs nothing is always shown.
            _ => (choices.get(choices.last()).1 == 0).then_some(choices.last()),
        }
    }
}

/// Assigns forms; a fraction of the remaining tokens, in billionths, upgrades new segments.
pub(super) fn assign(
    choices: &[LevelChoices],
    requests: &[Request],
    current: &[Current],
    budget: u32,
    upgrade_fraction: u64,
) -> Assignment {
    let items: Vec<_> = choices.iter().map(item).collect();
    let upgradable = || requests.iter().filter(|request| request.phase > Phase::Recent);
    let mut ledger =
        BudgetLedger::new(&items, &[], &[], vec![None; items.len()], u64::from(budget));
    // After the first two phases, no segment moves up while others may have to move down.
    assign_in_order(&mut ledger, requests, &items, |request| match current[request.at] {
        Current::Form(choice) if request.phase > Phase::Recent => Some(choice.max(request.target)),
        Current::Omitted if request.phase > Phase::Recent => None,
        _ => Some(request.target),
    });
    for request in requests.iter().filter(|request| request.phase == Phase::Recent) {
        ledger.upgrade_to(request.at, 0);
    }
    for request in upgradable() {
        if let Current::Form(choice) = current[request.at] {
            ledger.upgrade_to(request.at, choice);
        }
    }
    assign_in_order(&mut ledger, requests, &items, |request| Some(request.target));
    let (chosen, left) = ledger.into_parts();
    let part = left * upgrade_fraction / BILLION;
    let mut ledger = BudgetLedger::new(&items, &[], &[], chosen, part);
    for request in upgradable().filter(|request| matches!(current[request.at], Current::New)) {
        ledger.upgrade_to(request.at, 0);
    }
    let (chosen, rest) = ledger.into_parts();
    Assignment { chosen, remaining: left - part + rest }
}

/// Assigns forms phase by phase, to every segment up to the choice that `ceiling` returns.
fn assign_in_order(
    ledger: &mut BudgetLedger<'_>,
    requests: &[Request],
    items: &[Candidate],
    ceiling: impl Fn(&Request) -> Option<usize>,
) {
    for phase in requests.chunk_by(|a, b| a.phase == b.phase) {
        // The newest comes first, so a recent segment is full whenever it fits.
        for request in phase.iter().filter(|request| request.phase == Phase::Recent) {
            ledger.upgrade(request.at, 0, 1);
            ledger.upgrade_to(request.at, request.target);
        }
        let limited = || phase.iter().filter_map(|request| Some((request, ceiling(request)?)));
        for (request, ceiling) in
            limited().filter(|(request, _)| request.phase.assigns_tags_first())
        {
            ledger.upgrade_to(request.at, ceiling.max(items[request.at].content_levels));
        }
        for (request, ceiling) in limited() {
            ledger.upgrade_to(request.at, ceiling);
        }
    }
}

/// Converts a segment to an item of the budget engine. All segments compete for the same budget.
fn item(choices: &LevelChoices) -> Candidate {
    Candidate {
        priority: Priority::Normal,
        rank: None,
        costs: choices.costs().map(u64::from).collect(),
        ceiling: 0,
        content_levels: choices.above_tags(),
        may_grow: false,
        may_be_cut: false,
        has_passages: false,
        share: 0,
        group: None,
        eligibility: Eligibility::Competes,
    }
}
