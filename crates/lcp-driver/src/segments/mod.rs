//! Allocation of a budget to the segments of a conversation by compression levels (RFC 0004 §8
//! segments).
//!
//! A segment is a part of a conversation that is compressed as a unit. The caller gives the cost of
//! each of its forms; [`allocate`] chooses a form for each segment so that their sum never exceeds
//! a budget. [`rebalance`] adapts an allocation to an expansion, to new messages or to another
//! budget, with as few changes as possible.
//!
//! ```
//! use lcp_driver::segments::{
//!     BudgetAllocationOptions, CompressionLevel, PreferredSegments, LevelCosts, Segment, allocate,
//! };
//!
//! let costs = LevelCosts { brief: Some(40), tags: Some(8), ..LevelCosts::full(600) };
//! let segments: Vec<_> = (1..=4).map(|i| Segment::new(format!("s{i}"), costs)).collect();
//! let options = BudgetAllocationOptions::default();
//! let allocation = allocate(&segments, 1_300, &options, &PreferredSegments::default())?;
//! let levels: Vec<_> = allocation.segments.iter().map(|segment| segment.level).collect();
//! use CompressionLevel::{Brief, Full};
//! assert_eq!(levels, [Brief, Brief, Full, Full]);
//! assert_eq!((allocation.used_tokens, allocation.remaining_tokens), (1_280, 20));
//! # Ok::<(), lcp_driver::segments::SegmentsError>(())
//! ```

pub(crate) mod allocation;
pub(crate) mod assign;
pub(crate) mod pack;
pub(crate) mod segment;
mod valid;

use std::collections::HashMap;

pub use allocation::{LevelAllocation, SegmentAllocation};
pub use pack::{PackSegment, PackSegments};
pub use segment::{
    AllocationReason, BudgetAllocationOptions, CompressionLevel, LevelCosts, PreferredSegments,
    Segment, SegmentsError,
};

use crate::telemetry;
use assign::{Current, LevelChoices};
use valid::{allocate_valid, check};

/// Chooses a form for each of `segments`, oldest first, within `total_budget` tokens.
///
/// Segments get their forms in phases: the expanded ones in full; the last two in full, the newest
/// first; up to three with many anchors in detail; the newest of the others in brief; then all
/// others with anchors or a topic of `focus` in detail; then the rest in brief. Each gets the
/// fullest form that fits, up to the level of its phase. The remaining tokens upgrade segments to
/// full, the last two first. See [`AllocationReason`], [`BudgetAllocationOptions`] and RFC 0004 §8.
///
/// # Errors
///
/// Returns a [`SegmentsError`] if two segments have the same id, an importance or the aggressiveness
/// is out of range, or `focus` expands an unknown segment.
pub fn allocate(
    segments: &[Segment],
    total_budget: u32,
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
) -> Result<LevelAllocation, SegmentsError> {
    allocate_from(segments, total_budget, options, focus, |_, _| Current::New)
}

/// Adapts the allocation `current` to a change: an expansion, new segments, other costs, or a budget
/// of `new_budget` tokens.
///
/// A segment keeps its level. It gets a lower one only in favor of expanded segments, the last two,
/// and segments of earlier phases; it gets a fuller one only if its phase allows it, see
/// [`allocate`]. The remaining tokens upgrade only the last two and new segments. So without a
/// change the allocation stays, and if everything fits, only the expanded segment changes. Removed
/// segments free their tokens.
///
/// ```
/// use lcp_driver::segments::{
///     BudgetAllocationOptions, CompressionLevel, PreferredSegments, LevelCosts, Segment, allocate, rebalance,
/// };
///
/// let costs = LevelCosts { brief: Some(40), tags: Some(8), ..LevelCosts::full(600) };
/// let segments: Vec<_> = (1..=4).map(|i| Segment::new(format!("s{i}"), costs)).collect();
/// let options = BudgetAllocationOptions::default();
/// let current = allocate(&segments, 1_300, &options, &PreferredSegments::default())?;
/// let focus = PreferredSegments { expanded: vec!["s1".into()], ..PreferredSegments::default() };
/// let allocation = rebalance(&segments, &current, 1_300, &options, &focus)?;
/// let levels: Vec<_> = allocation.segments.iter().map(|segment| segment.level).collect();
/// use CompressionLevel::{Brief, Full};
/// assert_eq!(levels, [Full, Brief, Brief, Full]);
/// # Ok::<(), lcp_driver::segments::SegmentsError>(())
/// ```
///
/// # Errors
///
/// Returns the errors of [`allocate`].
pub fn rebalance(
    segments: &[Segment],
    current: &LevelAllocation,
    new_budget: u32,
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
) -> Result<LevelAllocation, SegmentsError> {
    let shown = current.segments.iter().map(|shown| (shown.segment_id.as_str(), Some(shown.level)));
    let omitted = current.omitted.iter().map(|id| (id.as_str(), None));
    let levels: HashMap<&str, Option<CompressionLevel>> = omitted.chain(shown).collect();
    allocate_from(segments, new_budget, options, focus, |segment, choices| {
        match levels.get(segment.id.as_str()) {
            None => Current::New,
            Some(None) => Current::Omitted,
            Some(Some(level)) => Current::Form(choices.at(*level)),
        }
    })
}

fn allocate_from(
    segments: &[Segment],
    budget: u32,
    options: &BudgetAllocationOptions,
    focus: &PreferredSegments,
    current: impl Fn(&Segment, &LevelChoices) -> Current,
) -> Result<LevelAllocation, SegmentsError> {
    check(segments, options, focus)?;
    let allocation = allocate_valid(segments, budget, options, focus, current);
    telemetry::record_segments(&allocation, budget);
    Ok(allocation)
}
