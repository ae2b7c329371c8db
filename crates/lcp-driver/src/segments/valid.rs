//! The check of segments, and the allocation to checked ones.

use std::collections::HashSet;

use super::allocation::LevelAllocation;
use super::assign::{Current, LevelChoices, assign, requests};
use super::segment::{BudgetAllocationOptions, PreferredSegments, Segment, SegmentsError};

/// Allocates to segments that [`check`] accepted.
pub(super) fn allocate_valid(
    segments: &[Segment],
    budget: u32,
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
    current: impl Fn(&Segment, &LevelChoices) -> Current,
) -> LevelAllocation {
    let choices: Vec<_> = segments.iter().map(|segment| LevelChoices::new(segment.costs)).collect();
    let current: Vec<_> = segments.iter().zip(&choices).map(|(s, c)| current(s, c)).collect();
    let requests = requests(segments, &choices, options, focus);
    let fraction = options.upgrade_fraction().unwrap_or_default();
    let assignment = assign(&choices, &requests, &current, budget, fraction);
    LevelAllocation::new(segments, &choices, &requests, &assignment, budget)
}

/// Checks the input of an allocation.
pub(super) fn check(
    segments: &[Segment],
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
) -> Result<(), SegmentsError> {
    if options.upgrade_fraction().is_none() {
        return Err(SegmentsError::Aggressiveness { value: options.compression_aggressiveness });
    }
    let mut ids = HashSet::new();
    for segment in segments {
        if !ids.insert(segment.id.as_str()) {
            return Err(SegmentsError::DuplicateId { id: segment.id.clone() });
        }
        let is_bad = |value: &&f64| !(value.is_finite() && **value >= 0.0);
        if let Some(&value) = segment.anchors.iter().find(is_bad) {
            return Err(SegmentsError::Importance { id: segment.id.clone(), value });
        }
    }
    match focus.expanded.iter().find(|id| !ids.contains(id.as_str())) {
        Some(id) => Err(SegmentsError::UnknownExpanded { id: id.clone() }),
        None => Ok(()),
    }
}
