//! The allocation by segments: each segment of a pack is shown at one level (RFC 0012).

use super::scan::{ExcerptCache, Scan};
use crate::allocate::{Allocation, BudgetLedger, Candidate, Outcome, Selection, fixed_tokens};
use crate::cost::DetailCosts;
use crate::detail::DetailLevel;
use crate::fixed_point::BILLION;
use crate::plan::PlanSegment;
use crate::segments::assign::RECENT;
use crate::segments::{CompressionLevel, LevelAllocation, LevelCosts, PackSegment, PackSegments};
use crate::telemetry;

/// The candidates of each segment.
type Members = Vec<Vec<usize>>;

impl Scan<'_, '_> {
    /// Allocates a budget to the segments of the pack. Critical and pinned blocks come first.
    pub(super) fn allocate_segments(
        &self,
        segments: &PackSegments,
        budget: u64,
        line: u64,
        excerpter: &mut ExcerptCache<'_, '_, '_>,
    ) -> (Allocation, Vec<PlanSegment>) {
        let members = self.members(segments);
        let nothing = |outcome| {
            let allocation = self.fixed_only(outcome);
            let segments = self.plan_segments(segments, &members, None, &allocation);
            (allocation, segments)
        };
        let fixed = fixed_tokens(&self.candidates);
        let needed = self.envelope + fixed;
        let Some(left) = budget.checked_sub(needed) else {
            let exceeds = Outcome::CriticalExceeds { needed };
            return nothing(if fixed > 0 { exceeds } else { Outcome::BelowFloor });
        };
        let costs: Vec<_> = members.iter().map(|members| self.costs(members)).collect();
        let allocate = |left| segments.allocate(&costs, u32::try_from(left).unwrap_or(u32::MAX));
        let (mut within, mut reserve) = (allocate(left), 0);
        let mut chosen = self.choose(segments, &members, &within);
        let mut all = self.candidates.iter().zip(&chosen);
        if all.any(|(candidate, chosen)| candidate.needs_mention() && chosen.is_none()) {
            // The roll-up line counts the blocks without a level.
            let Some(rest) = left.checked_sub(line) else { return nothing(Outcome::BelowFloor) };
            within = allocate(rest);
            chosen = self.choose(segments, &members, &within);
            reserve = line;
        }
        let available = left.saturating_sub(reserve);
        telemetry::record_segments(&within, u32::try_from(available).unwrap_or(u32::MAX));
        let mut left = available.saturating_sub(u64::from(within.used_tokens));
        if self.config.excerpts() {
            let fraction = segments.upgrade_fraction();
            (chosen, left) = self.enlarge_blocks(&members, chosen, left, fraction, excerpter);
        }
        let allocation = Allocation { chosen, outcome: Outcome::Fits, at_ceiling: false, left };
        let segments = self.plan_segments(segments, &members, Some(&within), &allocation);
        (allocation, segments)
    }

    /// Spends leftover tokens on single blocks of segments that are shown below Full, the newest
    /// first. The last two segments may use all of these tokens. The others may use `fraction` of
    /// the rest, in billionths.
    fn enlarge_blocks(
        &self,
        members: &Members,
        chosen: Vec<Option<Selection>>,
        left: u64,
        fraction: u64,
        excerpter: &mut ExcerptCache<'_, '_, '_>,
    ) -> (Vec<Option<Selection>>, u64) {
        let is_shown = |members: &&Vec<usize>| members.iter().any(|&at| chosen[at].is_some());
        let newest_first: Vec<_> = members.iter().rev().filter(is_shown).collect();
        let (recent, older) = newest_first.split_at(newest_first.len().min(RECENT));
        let mut ledger = BudgetLedger::new(&self.candidates, &[], &[], chosen, left);
        let mut enlarge = |ledger: &mut BudgetLedger<'_>, segments: &[&Vec<usize>]| {
            for members in segments {
                for &at in members.iter().rev() {
                    ledger.upgrade(at, 0, 1);
                }
                for &at in members.iter().rev() {
                    ledger.enlarge(at, excerpter);
                }
            }
        };
        enlarge(&mut ledger, recent);
        let (chosen, left) = ledger.into_parts();
        let part = left * fraction / BILLION;
        let mut ledger = BudgetLedger::new(&self.candidates, &[], &[], chosen, part);
        enlarge(&mut ledger, older);
        let (chosen, rest) = ledger.into_parts();
        (chosen, left - part + rest)
    }

    /// Returns the candidates of each segment: those that compete for the budget.
    fn members(&self, segments: &PackSegments) -> Members {
        let mut taken = vec![false; self.candidates.len()];
        let members = segments.as_slice().iter().map(|segment| {
            let start = self.shown.partition_point(|(block, _)| *block < segment.blocks.start);
            let end = self.shown.partition_point(|(block, _)| *block < segment.blocks.end);
            let is_free = |at: &usize| {
                self.candidates[*at].needs_mention() && !std::mem::replace(&mut taken[*at], true)
            };
            (start..end.max(start)).filter(is_free).collect()
        });
        members.collect()
    }

    /// Returns the costs of a segment; `None` if it has no blocks to show.
    fn costs(&self, members: &[usize]) -> Option<LevelCosts> {
        let cost = |level| {
            let costs = members.iter().map(|&at| {
                let costs = &self.shown[at].1;
                u64::from(costs.details[level_of(costs, level)].1)
            });
            u32::try_from(costs.sum::<u64>()).unwrap_or(u32::MAX)
        };
        (!members.is_empty()).then(|| LevelCosts {
            full: cost(CompressionLevel::Full),
            detailed: Some(cost(CompressionLevel::Detailed)),
            brief: Some(cost(CompressionLevel::Brief)),
            tags: Some(cost(CompressionLevel::Tags)),
        })
    }

    fn choose(
        &self,
        segments: &PackSegments,
        members: &Members,
        within: &LevelAllocation,
    ) -> Vec<Option<Selection>> {
        let mut chosen: Vec<_> = self.candidates.iter().map(Candidate::fixed_selection).collect();
        // Both lists are in the order of the segments.
        let mut shown = within.segments.iter().peekable();
        for (segment, members) in segments.as_slice().iter().zip(members) {
            if let Some(found) = shown.next_if(|found| found.segment_id == segment.id) {
                for &at in members {
                    let level = level_of(&self.shown[at].1, found.level);
                    chosen[at] = Some(Selection::Level(level));
                }
            }
        }
        chosen
    }

    /// Returns the segments that have blocks to show, with their levels.
    fn plan_segments(
        &self,
        segments: &PackSegments,
        members: &Members,
        within: Option<&LevelAllocation>,
        allocation: &Allocation,
    ) -> Vec<PlanSegment> {
        let shown = within.map_or(&[][..], |within| within.segments.as_slice());
        let mut shown = shown.iter().peekable();
        let with_blocks = segments.as_slice().iter().zip(members);
        let with_blocks = with_blocks.filter(|(_, members)| !members.is_empty());
        let row = |(segment, members): (&PackSegment, &Vec<usize>)| {
            let found = shown.next_if(|found| found.segment_id == segment.id);
            let selected = members.iter().filter_map(|&at| Some((at, allocation.chosen[at]?)));
            let tokens = selected.map(|(at, selection)| selection.cost(&self.candidates[at]));
            PlanSegment {
                id: segment.id.clone(),
                blocks: segment.blocks.clone(),
                level: found.map(|found| found.level),
                tokens: u32::try_from(tokens.sum::<u64>()).unwrap_or(u32::MAX),
                reason: found.map(|found| found.reason),
            }
        };
        with_blocks.map(row).collect()
    }
}

/// Returns the index of the level at which a block of a segment is shown.
///
/// A block without such a level is shown by its next lower one, or else by its shortest content.
/// Only at the level of tags, a placeholder replaces the content.
fn level_of(costs: &DetailCosts, level: CompressionLevel) -> usize {
    let detail = match level {
        CompressionLevel::Full => return 0,
        CompressionLevel::Detailed => DetailLevel::Detailed,
        CompressionLevel::Brief => DetailLevel::Summary,
        CompressionLevel::Tags => return costs.details.len() - 1,
    };
    let content = costs.details.iter().filter(|(it, _)| *it < DetailLevel::Placeholder);
    let content = content.map(|(it, _)| *it);
    let lower = content.clone().position(|it| it >= detail);
    lower.unwrap_or_else(|| content.count().saturating_sub(1))
}
