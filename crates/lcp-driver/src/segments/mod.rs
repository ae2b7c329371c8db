//! Segments of a conversation over levels of compression (RFC 0004 §8
//! segments).
//!
//! A segment is a run of a conversation that is compressed as one. Whoever
//! compresses it says what each of its forms costs; [`allocate`] chooses a form
//! for each segment so that all of them together never exceed a budget. [`rebalance`]
//! adapts what was chosen to an expansion, to new messages or to another budget, and
//! changes as little as it can.
//!
//! ```
//! use lcp_driver::segments::{
//!     BudgetAllocationOptions, CompressionLevel, Focus, Forms, Segment, allocate,
//! };
//!
//! let forms = Forms { brief: Some(40), tags: Some(8), ..Forms::full(600) };
//! let segments: Vec<_> = (1..=4).map(|i| Segment::new(format!("s{i}"), forms)).collect();
//! let options = BudgetAllocationOptions::default();
//! let allocation = allocate(&segments, 1_300, &options, &Focus::default())?;
//! let levels: Vec<_> = allocation.segments.iter().map(|segment| segment.level).collect();
//! use CompressionLevel::{Brief, Full};
//! assert_eq!(levels, [Brief, Brief, Full, Full]);
//! assert_eq!((allocation.used_tokens, allocation.remaining_tokens), (1_280, 20));
//! # Ok::<(), lcp_driver::segments::SegmentsError>(())
//! ```

mod allocation;
mod choices;
mod error;
mod options;
mod segment;
mod serve;
mod turns;

use std::collections::{HashMap, HashSet};

pub use allocation::{AllocationReason, LevelAllocation, SegmentAllocation};
pub use error::SegmentsError;
pub use options::BudgetAllocationOptions;
pub use segment::{CompressionLevel, Focus, Forms, Segment};

use crate::observe;
use choices::Choices;
use serve::{Held, serve};
use turns::turns;

/// Chooses a form for each of `segments`, oldest first, within `total_budget`
/// tokens.
///
/// Segments are served in turn: the expanded ones in full, the last two in
/// full, up to three with many anchors in detail, the newest of the others in
/// brief, then whatever else has anchors or a topic of `focus` in detail, then
/// the rest in brief. Each gets the fullest form that fits, up to the level of
/// its turn; what is left then lifts segments to full. [`AllocationReason`] and
/// [`BudgetAllocationOptions`] say more, RFC 0004 §8 all of it.
///
/// # Errors
///
/// [`SegmentsError`] where two segments have one id, an importance or the
/// aggressiveness is no number in its range, or `focus` expands a segment that
/// there is not.
pub fn allocate(
    segments: &[Segment],
    total_budget: u32,
    options: &BudgetAllocationOptions,
    focus: &Focus,
) -> Result<LevelAllocation, SegmentsError> {
    chosen(segments, total_budget, options, focus, |_, _| Held::New)
}

/// Adapts `current`, the allocation in force, to what has changed since: an
/// expansion, new segments, other costs, or a budget of `new_budget` tokens.
///
/// A segment keeps the level that it has, and other segments give way only for
/// what comes before them: expanded ones, the last two, and segments of earlier
/// turns. It gets a fuller level only where its turn says so, see [`allocate`];
/// what is left lifts the last two and new segments, nothing else. So where
/// nothing has changed, nothing changes, and where all fits, only the expanded
/// segment does. Segments that are gone free their tokens.
///
/// ```
/// use lcp_driver::segments::{
///     BudgetAllocationOptions, CompressionLevel, Focus, Forms, Segment, allocate, rebalance,
/// };
///
/// let forms = Forms { brief: Some(40), tags: Some(8), ..Forms::full(600) };
/// let segments: Vec<_> = (1..=4).map(|i| Segment::new(format!("s{i}"), forms)).collect();
/// let options = BudgetAllocationOptions::default();
/// let current = allocate(&segments, 1_300, &options, &Focus::default())?;
/// let focus = Focus { expanded: vec!["s1".into()], ..Focus::default() };
/// let allocation = rebalance(&segments, &current, 1_300, &options, &focus)?;
/// let levels: Vec<_> = allocation.segments.iter().map(|segment| segment.level).collect();
/// use CompressionLevel::{Brief, Full};
/// assert_eq!(levels, [Full, Brief, Brief, Full]);
/// # Ok::<(), lcp_driver::segments::SegmentsError>(())
/// ```
///
/// # Errors
///
/// As [`allocate`].
pub fn rebalance(
    segments: &[Segment],
    current: &LevelAllocation,
    new_budget: u32,
    options: &BudgetAllocationOptions,
    focus: &Focus,
) -> Result<LevelAllocation, SegmentsError> {
    let shown = current.segments.iter().map(|held| (held.segment_id.as_str(), Some(held.level)));
    let omitted = current.omitted.iter().map(|id| (id.as_str(), None));
    let levels: HashMap<&str, Option<CompressionLevel>> = omitted.chain(shown).collect();
    chosen(segments, new_budget, options, focus, |segment, choices| {
        match levels.get(segment.id.as_str()) {
            None => Held::New,
            Some(None) => Held::Nothing,
            Some(Some(level)) => Held::Form(choices.at(*level)),
        }
    })
}

/// The allocation, given what is in force of each segment.
fn chosen(
    segments: &[Segment],
    budget: u32,
    options: &BudgetAllocationOptions,
    focus: &Focus,
    held: impl Fn(&Segment, &Choices) -> Held,
) -> Result<LevelAllocation, SegmentsError> {
    let lifting = options
        .lifting()
        .ok_or(SegmentsError::Aggressiveness { value: options.compression_aggressiveness })?;
    check(segments, focus)?;
    let choices: Vec<_> = segments.iter().map(|segment| Choices::new(segment.forms)).collect();
    let held: Vec<_> = segments.iter().zip(&choices).map(|(s, c)| held(s, c)).collect();
    let turns = turns(segments, &choices, options, focus);
    let served = serve(&choices, &turns, &held, budget, lifting);
    let allocation = LevelAllocation::new(segments, &choices, &turns, &served, budget);
    observe::segments(&allocation, budget);
    Ok(allocation)
}

/// Whether the input can be allocated at all.
fn check(segments: &[Segment], focus: &Focus) -> Result<(), SegmentsError> {
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
