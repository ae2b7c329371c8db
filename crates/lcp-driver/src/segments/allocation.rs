//! What segments get.

use std::collections::BTreeMap;

use super::choices::Choices;
use super::segment::{CompressionLevel, Segment};
use super::serve::Served;
use super::turns::Turn;
use crate::block_view::label::push_quoted;
use crate::fmt::write_to;
use crate::warning::{Warning, WarningCode};

/// Why a segment is served when it is. The first that applies counts, in the
/// order Expanded, Recent, `ContainsAnchors`, `TopicRelevant`, Baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AllocationReason {
    /// It is one of the last two: second in turn, in full.
    Recent,
    /// It has anchors: in detail or fuller, the most important first.
    ContainsAnchors,
    /// It has a topic of the focus: in detail, behind those with anchors.
    TopicRelevant,
    /// It was asked for: first in turn, in full.
    Expanded,
    /// Nothing else speaks for it: in brief, the newest first.
    Baseline,
}

impl AllocationReason {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::ContainsAnchors => "contains_anchors",
            Self::TopicRelevant => "topic_relevant",
            Self::Expanded => "expanded",
            Self::Baseline => "baseline",
        }
    }
}

/// What one segment gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentAllocation {
    /// The segment.
    pub segment_id: String,
    /// The form that is shown.
    pub level: CompressionLevel,
    /// Tokens of that form, always all of it.
    pub allocated_tokens: u32,
    /// Why it was served when it was.
    pub reason: AllocationReason,
}

/// What every segment gets of a budget. Each is either in `segments` or in
/// `omitted`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelAllocation {
    /// The segments that are shown, oldest first.
    pub segments: Vec<SegmentAllocation>,
    /// The ids of those of which no form fits, oldest first.
    pub omitted: Vec<String>,
    /// Tokens of all that is shown: never more than the budget.
    pub used_tokens: u32,
    /// Tokens of the budget that are left.
    pub remaining_tokens: u32,
    /// Tokens by level; every level is in it, and they add up to the used ones.
    pub tokens_by_level: BTreeMap<CompressionLevel, u32>,
    /// [`WarningCode::CostlyLevel`] for each form that costs more than a fuller
    /// one, with both costs.
    pub warnings: Vec<Warning>,
}

impl LevelAllocation {
    /// What a segment gets; `None` if it is omitted or unknown. Looks at each
    /// segment in turn.
    #[must_use]
    pub fn get(&self, segment_id: &str) -> Option<&SegmentAllocation> {
        self.segments.iter().find(|segment| segment.segment_id == segment_id)
    }

    pub(super) fn new(
        segments: &[Segment],
        choices: &[Choices],
        turns: &[Turn],
        served: &Served,
        budget: u32,
    ) -> Self {
        let mut reasons = vec![AllocationReason::Baseline; segments.len()];
        for turn in turns {
            reasons[turn.at] = turn.reason;
        }
        let remaining_tokens = u32::try_from(served.left).unwrap_or(budget);
        let mut allocation = Self {
            segments: Vec::with_capacity(segments.len()),
            omitted: Vec::new(),
            used_tokens: budget.saturating_sub(remaining_tokens),
            remaining_tokens,
            tokens_by_level: CompressionLevel::ALL.map(|level| (level, 0)).into(),
            warnings: Vec::new(),
        };
        for (at, (segment, forms)) in segments.iter().zip(choices).enumerate() {
            allocation.warnings.extend(forms.costly().map(|costly| warning(segment, costly)));
            let Some(choice) = served.choice(at, forms) else {
                allocation.omitted.push(segment.id.clone());
                continue;
            };
            let (level, allocated_tokens) = forms.get(choice);
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

fn warning(segment: &Segment, costly: (CompressionLevel, u32, u32)) -> Warning {
    let (level, cost, fuller) = costly;
    let mut message = String::from("segment ");
    push_quoted(&mut message, &segment.id);
    write_to(
        &mut message,
        format_args!(
            ": its level {} costs {cost} tokens, a fuller one {fuller}; it is not used",
            level.name(),
        ),
    );
    Warning::new(WarningCode::CostlyLevel, None, message)
}
