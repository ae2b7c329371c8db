//! Plans that keep the previous text as a prefix (RFC 0005 §6).

use std::collections::{HashMap, VecDeque};

use lcp_types::{Priority, escape_for_display};

use super::decisions::BlockDecision;
use super::scan::{PreviousText, Scan};
use super::share_budgets::ShareBudgets;
use super::{PlanInputs, RenderedPlan};
use crate::allocate::{Candidate, Eligibility, fixed_tokens};
use crate::assemble::{Layout, MetaLookup, Text, assemble};
use crate::block_view::Head;
use crate::config::Objective;
use crate::detail::{DetailLevel, RENDERER_REVISION, ShownDetail};
use crate::error::DriverError;
use crate::plan::RenderDecision;
use crate::prompt_cache::{
    Fingerprint, PreviousBlock, PreviousPart, PreviousPlan, RepackReason, StableOptions,
    StableOutcome, TextReuse, block_fingerprint,
};
use crate::render::envelope;
use crate::warning::{Warning, WarningCode};

#[derive(Clone, Copy)]
struct WatermarkTokens {
    budget: u32,
    high: u32,
    low: u32,
}

/// A stable plan with its relation to the previous text.
struct StablePlan {
    reuse: TextReuse,
    reason: Option<RepackReason>,
    rendered: RenderedPlan,
    shares: ShareBudgets,
}

impl<'c> Scan<'_, 'c> {
    /// Appends to the previous text if possible, otherwise repacks.
    pub(super) fn plan_stable(
        &mut self,
        budget: u32,
        options: &'c StableOptions,
        warnings: &mut Vec<Warning>,
    ) -> Result<PlanInputs, DriverError> {
        let blocks: Vec<_> =
            self.shown.iter().map(|(i, _)| block_fingerprint(&self.blocks[*i])).collect();
        let (high, low) = options.watermarks.tokens(budget);
        let marks = WatermarkTokens { budget, high, low };
        let mut plan = options.previous.as_deref();
        let mut previous = None;
        if let Some(previous_plan) = plan {
            match self.match_previous(previous_plan, &blocks) {
                Ok(text) => previous = Some(text),
                Err(reason) => {
                    let message =
                        format!("discarded the previous plan and started a new one: {reason}");
                    warnings.push(Warning::new(WarningCode::PreviousRefused, None, message));
                    plan = None;
                }
            }
        }
        let previous_tokens = previous.as_ref().map_or(0, |previous| previous.tokens);
        let stable = match previous {
            Some(previous) => self.append_or_repack(previous, marks, warnings)?,
            None => self.repack(TextReuse::Fresh, None, marks, warnings)?,
        };
        let outcome = self.stable_outcome(&stable, marks, &blocks, plan, previous_tokens);
        let StablePlan { rendered, shares, .. } = stable;
        Ok(PlanInputs { rendered, shares, stable: Some(outcome) })
    }

    /// Checks that the parts of a previous plan still render to the same text.
    fn match_previous(
        &self,
        plan: &'c PreviousPlan,
        blocks: &[Fingerprint],
    ) -> Result<PreviousText<'c>, String> {
        if plan.renderer != RENDERER_REVISION {
            return Err(format!(
                "it was written by renderer version {}, this is version {RENDERER_REVISION}",
                plan.renderer
            ));
        }
        if plan.encoding != self.estimator.name() {
            let (its, this) = (escape_for_display(plan.encoding.as_bytes()), self.estimator.name());
            return Err(format!("its token counts are for {its}, not {this:?}"));
        }
        if plan.mode != self.config.mode {
            let (its, this) = (plan.mode.name(), self.config.mode.name());
            return Err(format!("its mode is {its}, not {this}"));
        }
        let (order, excluded) = locate_blocks(plan, blocks)?;
        let parts = || order.iter().copied().zip(&plan.parts);
        let part_of = order.iter().enumerate().map(|(part, &at)| (at, part)).collect();
        let line_numbers = self.config.line_numbers;
        let metas: HashMap<_, _> =
            parts().map(|(at, part)| (self.shown[at].0, part.meta(line_numbers))).collect();
        let shown = parts().map(|(at, part)| {
            let (block, costs) = &self.shown[at];
            (*block, part.shown.clone(), costs.content)
        });
        let layout = Layout { shown: shown.collect(), rolled_up: None };
        let in_force = MetaLookup { own: self.metas, previous: Some(&metas) };
        let text = assemble(self.blocks, in_force, self.config.mode, &layout);
        for (number, (text, part)) in text.parts(self.config.mode).zip(&plan.parts).enumerate() {
            if Fingerprint::from_bytes(text.as_bytes()) != part.text {
                return Err(format!("its part {number} differs from the rendered block"));
            }
        }
        let tokens = self.prefix_tokens(&plan.parts, &text);
        Ok(PreviousText { parts: &plan.parts, order, metas, part_of, excluded, tokens })
    }

    /// Appends to the previous text unless something requires a repack.
    fn append_or_repack(
        &mut self,
        previous: PreviousText<'c>,
        marks: WatermarkTokens,
        warnings: &mut Vec<Warning>,
    ) -> Result<StablePlan, DriverError> {
        let is_full = |part: &PreviousPart| part.shown == ShownDetail::Level(DetailLevel::Full);
        let lowered = previous.order.iter().zip(previous.parts);
        let lowered = lowered.filter(|(_, part)| !is_full(part)).map(|(&at, _)| at);
        let mut not_full = lowered.chain(previous.excluded.iter().copied());
        let reason = if not_full.any(|at| self.candidates[at].is_fixed()) {
            Some(RepackReason::BecameCritical)
        } else if self.lacks_newest_turn(&previous, marks.budget) {
            Some(RepackReason::NewestUserTurn)
        } else if self.splits_tool_call(&previous, marks.low) {
            Some(RepackReason::SplitToolCall)
        } else {
            None
        };
        if reason.is_some() {
            return self.repack(TextReuse::Repacked, reason, marks, warnings);
        }
        let required = self.required_tokens();
        let before = self.candidates.clone();
        freeze(&mut self.candidates, &previous);
        let eligible = |eligibility: Eligibility| {
            self.candidates.iter().filter(move |one| one.eligibility == eligibility)
        };
        let frozen = eligible(Eligibility::Frozen).map(|one| one.costs[0]).sum::<u64>();
        let turn: u64 = eligible(Eligibility::Competes).map(|one| self.demand(one)).sum();
        let has_excluded = eligible(Eligibility::Excluded).any(Candidate::needs_mention);
        let line = if has_excluded { self.roll_up_bound() } else { 0 };
        let needed = self.envelope + frozen + turn + line;
        let (high, low) = (u64::from(marks.high), u64::from(marks.low));
        let (target, reason) = if needed <= high {
            (Some(marks.high), None)
        } else if required >= low {
            (Some(marks.budget), Some(RepackReason::CriticalAboveLow))
        } else if turn == 0 {
            // Nothing is added, so the count of the text decides: the counts of the parts may add
            // up to more.
            (Some(marks.high), None)
        } else if turn > high - low && needed <= u64::from(marks.budget) {
            (Some(marks.budget), Some(RepackReason::TurnAboveGap))
        } else {
            (None, Some(RepackReason::HighWatermark))
        };
        self.previous = Some(previous);
        let reason = match target.map(|target| self.plan_within(target)) {
            Some(Ok((rendered, shares, own_warnings))) => {
                warnings.extend(own_warnings);
                // The estimated need can exceed the actual use.
                if let Some(reason) = reason.filter(|_| rendered.used > marks.high) {
                    warnings.push(watermark_warning(reason, rendered.used, marks));
                }
                return Ok(StablePlan { reuse: TextReuse::Appended, reason, rendered, shares });
            }
            Some(Err(reason)) => Some(reason),
            None => reason,
        };
        self.candidates = before;
        self.previous = None;
        self.repack(TextReuse::Repacked, reason, marks, warnings)
    }

    /// Returns the tokens of Critical and pinned blocks and of the newest user turn.
    fn required_tokens(&self) -> u64 {
        let newest = self.first().map_or(0, |first| {
            let candidate = &self.candidates[first];
            candidate.costs[candidate.ceiling]
        });
        self.envelope + fixed_tokens(&self.candidates) + newest
    }

    fn fresh_decisions(&self, budget: u32) -> Vec<BlockDecision> {
        let mut shares = ShareBudgets::new(self, budget, &mut Vec::new());
        let fresh = self.plan_adaptive(budget, &mut shares, &mut Vec::new());
        fresh.map(|fresh| fresh.decisions).unwrap_or_default()
    }

    /// Returns whether a fresh plan would show more of the newest user turn.
    fn lacks_newest_turn(&self, previous: &PreviousText<'_>, budget: u32) -> bool {
        let Some(newest) = self.first() else { return false };
        let shown = match previous.part(newest).map(|part| &part.shown) {
            None if !previous.excluded.contains(&newest) => return false,
            Some(ShownDetail::Level(DetailLevel::Full)) => return false,
            shown => shown,
        };
        let fresh = self.fresh_decisions(budget);
        fresh.get(newest).is_some_and(|(decision, ..)| match shown {
            None => decision.is_shown(),
            Some(ShownDetail::Level(DetailLevel::Placeholder)) => decision.has_content(),
            Some(_) => *decision == RenderDecision::Full,
        })
    }

    /// Returns whether a fresh plan would show a new block of a tool call whose other blocks have
    /// no part in the previous text.
    fn splits_tool_call(&self, previous: &PreviousText<'_>, low: u32) -> bool {
        let groups = &self.groups.members;
        if groups.is_empty() || previous.excluded.is_empty() {
            return false;
        }
        let mut is_excluded = vec![false; self.candidates.len()];
        let mut is_new = vec![true; self.candidates.len()];
        previous.excluded.iter().for_each(|&at| (is_excluded[at], is_new[at]) = (true, false));
        previous.order.iter().for_each(|&at| is_new[at] = false);
        let is_new = |&at: &usize| is_new[at] && self.candidates[at].needs_mention();
        let is_split = |group: &&Vec<usize>| {
            group.iter().any(is_new) && group.iter().any(|&at| is_excluded[at])
        };
        let split: Vec<_> = groups.iter().filter(is_split).collect();
        if split.is_empty() {
            return false;
        }
        let fresh = self.fresh_decisions(low);
        let is_shown =
            |at: &usize| fresh.get(*at).is_some_and(|(decision, ..)| decision.is_shown());
        split.into_iter().any(|group| group.iter().any(is_shown))
    }

    /// Plans within `target` tokens; fails if required blocks do not fit.
    fn plan_within(
        &self,
        target: u32,
    ) -> Result<(RenderedPlan, ShareBudgets, Vec<Warning>), RepackReason> {
        let mut warnings = Vec::new();
        let mut shares = ShareBudgets::new(self, target, &mut warnings);
        let rendered = self
            .plan_adaptive(target, &mut shares, &mut warnings)
            .map_err(|_| RepackReason::HighWatermark)?;
        let tokens: Vec<_> = rendered.decisions.iter().map(|(_, _, tokens)| *tokens).collect();
        let over_cap = shares.excess(&self.candidates, &tokens).iter().any(|over| *over > 0);
        if !rendered.fits || rendered.used > target || over_cap {
            return Err(RepackReason::HighWatermark);
        }
        let is_shown = |&&at: &&usize| rendered.decisions[at].0.is_shown();
        let is_split = |group: &Vec<usize>| {
            let shown = group.iter().filter(is_shown).count();
            shown > 0 && shown < group.len()
        };
        if self.groups.members.iter().any(is_split) {
            return Err(RepackReason::SplitToolCall);
        }
        let lacks = |newest: usize| {
            let candidate = &self.candidates[newest];
            u64::from(rendered.decisions[newest].2) < candidate.costs[candidate.ceiling]
        };
        if self.first().is_some_and(lacks) {
            return Err(RepackReason::HighWatermark);
        }
        Ok((rendered, shares, warnings))
    }

    /// Returns the tokens that a candidate gets if everything fits.
    fn demand(&self, candidate: &Candidate) -> u64 {
        let waits = self.config.objective == Objective::Strict;
        if candidate.priority == Priority::Background && waits {
            return 0;
        }
        candidate.costs[candidate.ceiling]
    }

    /// Repacks the text: within the high watermark if everything fits, otherwise within the low
    /// one.
    fn repack(
        &mut self,
        reuse: TextReuse,
        reason: Option<RepackReason>,
        marks: WatermarkTokens,
        warnings: &mut Vec<Warning>,
    ) -> Result<StablePlan, DriverError> {
        let fixed = self.envelope + fixed_tokens(&self.candidates);
        let rest = self.candidates.iter().filter(|candidate| !candidate.is_fixed());
        let all = fixed + rest.map(|candidate| self.demand(candidate)).sum::<u64>();
        let target = if all <= marks.high.into() {
            marks.high
        } else if self.required_tokens() >= marks.low.into() {
            // Half of the tokens that the required blocks leave is reserved for later turns.
            let middle = u64::midpoint(self.required_tokens(), marks.budget.into());
            u32::try_from(middle).map_or(marks.budget, |middle| middle.min(marks.budget))
        } else {
            marks.low
        };
        let is_empty = |warning: &Warning| warning.code == WarningCode::EmptyResult;
        if let Ok((rendered, shares, own_warnings)) = self.plan_within(target)
            && !own_warnings.iter().any(is_empty)
        {
            warnings.extend(own_warnings);
            return Ok(StablePlan { reuse, reason, rendered, shares });
        }
        let mut shares = ShareBudgets::new(self, marks.budget, warnings);
        let rendered = self.plan_adaptive(marks.budget, &mut shares, warnings)?;
        Ok(StablePlan { reuse, reason, rendered, shares })
    }

    /// Returns the tokens of a text up to the end of `parts`, which are its first parts.
    fn prefix_tokens(&self, parts: &[PreviousPart], text: &Text) -> u32 {
        let Some(last) = parts.len().checked_sub(1) else { return 0 };
        if !self.estimator.is_additive() {
            return self.estimator.estimate(&text.text[..text.ends[last].1]);
        }
        let opening = self.estimator.estimate(envelope(self.config.mode).0);
        parts.iter().fold(opening, |sum, part| sum.saturating_add(part.cost))
    }

    /// Returns the reuse of the previous text, and the data for the next plan.
    fn stable_outcome(
        &self,
        stable: &StablePlan,
        marks: WatermarkTokens,
        blocks: &[Fingerprint],
        previous: Option<&PreviousPlan>,
        previous_tokens: u32,
    ) -> StableOutcome {
        let rendered = &stable.rendered;
        let mode = self.config.mode;
        let order = self.text_order(&rendered.decisions);
        let mut parts = Vec::with_capacity(order.len());
        for (&at, text) in order.iter().zip(rendered.text.parts(mode)) {
            parts.push(match self.previous.as_ref().and_then(|previous| previous.part(at)) {
                Some(part) => PreviousPart { position: at, ..part.clone() },
                None => self.next_part(at, blocks[at], &rendered.decisions[at], text),
            });
        }
        let is_unshown = |at: &usize| !rendered.decisions[*at].0.is_shown();
        let unshown = (0..self.shown.len()).filter(is_unshown).map(|at| blocks[at]).collect();
        let before = previous.map_or(&[][..], |previous| &previous.parts);
        let same = parts.iter().zip(before).take_while(|(part, before)| part.text == before.text);
        let same = same.count();
        let end = |parts: usize| parts.checked_sub(1).map_or(0, |last| rendered.text.ends[last].1);
        StableOutcome {
            reuse: stable.reuse,
            repack_reason: stable.reason,
            high_tokens: marks.high,
            low_tokens: marks.low,
            prefix_bytes: end(parts.len()),
            prefix_tokens: self.prefix_tokens(&parts, &rendered.text),
            previous_tokens,
            kept_bytes: end(same),
            kept_tokens: self.prefix_tokens(&parts[..same], &rendered.text),
            order: order.iter().map(|&at| self.shown[at].0).collect(),
            next_plan: PreviousPlan {
                renderer: RENDERER_REVISION,
                encoding: self.estimator.name().to_owned(),
                mode,
                parts,
                unshown,
            },
        }
    }

    /// Returns a part in the form that the next plan needs.
    fn next_part(
        &self,
        at: usize,
        block: Fingerprint,
        (decision, _, cost): &BlockDecision,
        text: &str,
    ) -> PreviousPart {
        let index = self.shown[at].0;
        let meta = &self.metas[index];
        let level = match decision {
            RenderDecision::Detailed => meta.detailed.as_deref(),
            RenderDecision::Summary => meta.summary.as_deref(),
            RenderDecision::Tags => meta.tags.as_deref(),
            _ => None,
        };
        let shown = ShownDetail::from_decision(decision);
        PreviousPart {
            position: at,
            block,
            shown: shown.unwrap_or(ShownDetail::Level(DetailLevel::Full)),
            cost: *cost,
            text: Fingerprint::from_bytes(text.as_bytes()),
            priority: Head::new(&self.blocks[index], Some(meta)).priority,
            tool_call_id: meta.tool_call_id.as_deref().map(str::to_owned),
            lang: meta.lang,
            path: meta.path.as_deref().map(str::to_owned),
            renamed_from: meta.renamed_from.as_deref().map(str::to_owned),
            level: level.map(str::to_owned),
        }
    }
}

/// Freezes candidates that have a part in the previous text, at the cost of that part, and excludes
/// candidates of the previous plan without a part.
fn freeze(candidates: &mut [Candidate], previous: &PreviousText<'_>) {
    for (&at, part) in previous.order.iter().zip(previous.parts) {
        let candidate = &mut candidates[at];
        let is_line = part.shown == ShownDetail::Level(DetailLevel::Placeholder);
        candidate.eligibility = Eligibility::Frozen;
        candidate.costs = [u64::from(part.cost)].into_iter().collect();
        candidate.ceiling = 0;
        candidate.content_levels = usize::from(!is_line);
    }
    for &at in &previous.excluded {
        candidates[at].eligibility = Eligibility::Excluded;
    }
}

/// Returns the candidate of each part of a previous plan, and the candidates without a part.
fn locate_blocks(
    plan: &PreviousPlan,
    blocks: &[Fingerprint],
) -> Result<(Vec<usize>, Vec<usize>), String> {
    let mut candidates: HashMap<Fingerprint, VecDeque<usize>> = HashMap::new();
    for (at, block) in blocks.iter().enumerate() {
        candidates.entry(*block).or_default().push_back(at);
    }
    let mut wanted: HashMap<Fingerprint, usize> = HashMap::new();
    for part in &plan.parts {
        *wanted.entry(part.block).or_default() += 1;
    }
    let (mut order, mut excluded) = (vec![None; plan.parts.len()], Vec::new());
    for block in plan.blocks() {
        match block {
            PreviousBlock::Part(number, part) => {
                order[number] = candidates.get_mut(&part.block).and_then(VecDeque::pop_front);
                wanted.entry(part.block).and_modify(|wanted| *wanted -= 1);
            }
            PreviousBlock::Unshown(block) => {
                let wanted = wanted.get(block).copied().unwrap_or_default();
                // If one of several equal blocks is missing, it must be one without a part.
                let spare = candidates.get_mut(block).filter(|places| places.len() > wanted);
                excluded.extend(spare.and_then(VecDeque::pop_front));
            }
        }
    }
    let missing = |number: usize| {
        format!("the block of its part {number} is not in this pack, or is filtered out")
    };
    let order = order.into_iter().enumerate();
    let order = order.map(|(number, at)| at.ok_or_else(|| missing(number)));
    Ok((order.collect::<Result<_, _>>()?, excluded))
}

fn watermark_warning(reason: RepackReason, used: u32, marks: WatermarkTokens) -> Warning {
    let why = match reason {
        RepackReason::CriticalAboveLow => {
            "critical and pinned blocks and the newest user turn alone reach the low watermark"
        }
        _ => "the turn is larger than the gap between the watermarks",
    };
    let message = format!(
        "the text has {used} tokens, above the high watermark of {}; repacking would not help: {why}",
        marks.high,
    );
    Warning::new(WarningCode::AboveWatermark, None, message)
}
