//! The result of an allocation.

use std::collections::BTreeMap;

use super::assign::{Assignment, LevelChoices, Request};
use super::segment::{AllocationReason, CompressionLevel, Segment};
use crate::block_view::label::push_quoted;
use crate::fmt::{group_thousands, plural, write_to};
use crate::warning::{Warning, WarningCode};

/// The form of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentAllocation {
    /// The id of the segment.
    pub segment_id: String,
    /// The form that is shown.
    pub level: CompressionLevel,
    /// Tokens of that form, always all of it.
    pub allocated_tokens: u32,
    /// The reason for its phase.
    pub reason: AllocationReason,
}

/// The allocation of a budget to segments. Each segment is either in `segments` or in `omitted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelAllocation {
    /// The segments that are shown, oldest first.
    pub segments: Vec<SegmentAllocation>,
    /// The ids of segments without a form that fits, oldest first.
    pub omitted: Vec<String>,
    /// Tokens of all shown segments: never more than the budget.
    pub used_tokens: u32,
    /// Unused tokens of the budget.
    pub remaining_tokens: u32,
    /// Tokens by level, for every level; they add up to `used_tokens`.
    pub tokens_by_level: BTreeMap<CompressionLevel, u32>,
    /// [`WarningCode::CostlyLevel`] for each form that costs more than a fuller
    /// one, with both costs.
    pub warnings: Vec<Warning>,
}

impl LevelAllocation {
    /// Returns the form of a segment by a linear search; `None` if it is omitted or unknown.
    #[must_use]
    pub fn get(&self, segment_id: &str) -> Option<&SegmentAllocation> {
        self.segments.iter().find(|segment| segment.segment_id == segment_id)
    }

    pub(super) fn new(
        segments: &[Segment],
        choices: &[LevelChoices],
        requests: &[Request],
        assignment: &Assignment,
        budget: u32,
    ) -> Self {
        let mut reasons = vec![AllocationReason::Baseline; segments.len()];
        for request in requests {
            reasons[request.at] = request.reason;
        }
        let remaining_tokens = u32::try_from(assignment.remaining).unwrap_or(budget);
        let mut allocation = Self {
            segments: Vec::with_capacity(segments.len()),
            omitted: Vec::new(),
            used_tokens: budget.saturating_sub(remaining_tokens),
            remaining_tokens,
            tokens_by_level: CompressionLevel::ALL.map(|level| (level, 0)).into(),
            warnings: Vec::new(),
        };
        for (at, (segment, choices)) in segments.iter().zip(choices).enumerate() {
            allocation.warnings.extend(choices.dominated().map(|level| warning(segment, level)));
            let Some(choice) = assignment.choice(at, choices) else {
                allocation.omitted.push(segment.id.clone());
                continue;
            };
            let (level, allocated_tokens) = choices.get(choice);
            *allocation.tokens_by_level.entry(level).or_default() += allocated_tokens;
            allocation.segments.push(SegmentAllocation {
                segment_id: segment.id.clone(),
                level,
                allocated_tokens,
                reason: reasons[at],
            });
        }
        allocation
    }
}

fn warning(segment: &Segment, dominated: (CompressionLevel, u32, u32)) -> Warning {
    let (level, cost, fuller) = dominated;
    let mut message = format!("ignored level {} of segment ", level.name());
    push_quoted(&mut message, &segment.id);
    write_to(
        &mut message,
        format_args!(
            ": it costs {}, no less than a fuller level ({})",
            plural(cost, "token"),
            group_thousands(fuller.into()),
        ),
    );
    Warning::new(WarningCode::CostlyLevel, None, message)
}
