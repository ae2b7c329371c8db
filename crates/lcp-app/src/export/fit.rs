//! Repeated planning until the messages fit the budget.

mod search;

use std::collections::BTreeSet;

use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, DriverError, Overflow, Plan, Planner,
    RenderDecision, RollUp, Warning, WarningCode,
};
use lcp_tokens::TokenEstimator;
use lcp_transcripts::{ExportResult, ExportedMessage};
use lcp_types::{Block, Priority};

use super::ExportCandidates;
use super::fit_error::{FitError, over};
use super::message_counts::{MessageCounts, message_token_counts, request_extra_tokens};
use search::SearchResult;

/// Messages within a budget, with their plan.
#[derive(Debug)]
pub struct FittedMessages {
    /// The messages.
    pub exported: ExportResult,
    /// Tokens of the request.
    pub tokens: u64,
    /// Tokens of the images in it.
    pub image_tokens: u64,
    /// Tokens of the request other than messages: tools.
    pub overhead_tokens: u64,
    /// The decisions for all blocks. Blocks without a place in a message are rolled up.
    pub plan: Plan,
    /// The number of plans.
    pub plans: u32,
    /// The number of messages that were dropped, oldest first, because no plan fit.
    pub dropped: usize,
}

/// Searches for messages within the budget of `config`.
///
/// A message costs other tokens than its part of the planned text. So the plan is made again with
/// the excess subtracted; if that subtracts too much, a budget in between is tried. If this does
/// not converge, the oldest messages are dropped, the newest user message last. The newest user
/// message is shown wherever it fits: older messages are dropped for it, too.
///
/// Only Critical and pinned blocks, the request's tools, and the text that makes a valid history
/// of them can exceed the budget. The warnings of the plan are about these messages and the
/// requested budget.
///
/// # Errors
///
/// Returns [`FitError::OverBudget`] if the messages must exceed the budget, and the configuration
/// denies it or no block of them may exceed it.
pub fn fit(
    candidates: &ExportCandidates<'_>,
    driver: &DefaultDriver,
    estimator: &dyn TokenEstimator,
    config: &DriverConfig,
) -> Result<FittedMessages, FitError> {
    let counts = message_token_counts(&candidates.full_export, estimator);
    fit_by_rules(candidates, &counts, driver, estimator, config, FitRules::default())
}

/// The rules of a fit that is repeated in each turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FitRules {
    /// The part of the budget that stays free if messages must be cut, unless system messages or the
    /// newest question of the user need it.
    pub(crate) headroom: f64,
    /// `true` if a newest question that cannot be complete is an error.
    pub(crate) keeps_question: bool,
}

/// Fits messages as [`fit`] does, by these rules. `counts` has the tokens of each message of the complete
/// export.
pub(super) fn fit_by_rules(
    candidates: &ExportCandidates<'_>,
    counts: &[u32],
    driver: &DefaultDriver,
    estimator: &dyn TokenEstimator,
    config: &DriverConfig,
    rules: FitRules,
) -> Result<FittedMessages, FitError> {
    let complete = &candidates.full_export;
    let counts = MessageCounts::new(complete, counts, estimator);
    let overhead_tokens = request_extra_tokens(complete, estimator);
    let image_tokens = candidates.image_tokens(complete, |_| true);
    let tokens = counts.count(complete) + overhead_tokens + image_tokens;
    let is_complete = config.token_budget.is_some_and(|budget| {
        config.fill && config.shares.is_none() && tokens <= u64::from(budget)
    });
    let excess_images = match config.token_budget {
        Some(budget) if !is_complete => {
            // Images have half of the budget, or the part that complete texts leave.
            let texts = tokens - image_tokens;
            candidates
                .excess_images(u64::from(budget / 2).max(u64::from(budget).saturating_sub(texts)))
        }
        _ => BTreeSet::new(),
    };
    let order = match config.token_budget {
        Some(_) if !is_complete => candidates.order_annotations(),
        _ => Vec::new(),
    };
    let blocks = candidates.to_plan(order);
    let maker = MessageBuilder {
        candidates,
        driver,
        counts: &counts,
        blocks: &blocks,
        overhead_tokens,
        excess_images: &excess_images,
        keeps_question: rules.keeps_question,
    };
    // Blocks that exceed a lowered budget may fit the requested one.
    let planned = DriverConfig { overflow: Overflow::Allow, ..config.clone() };
    driver.with_planner(&blocks, &planned, |plan| {
        if is_complete {
            // A plan for the budget may omit blocks of messages that fit, because it plans a text.
            let made = maker.make(plan(None)?, &BTreeSet::new())?;
            if config.token_budget.is_none_or(|budget| made.tokens <= u64::from(budget)) {
                return Ok(maker.finish(made, 1));
            }
        }
        if config.overflow == Overflow::Deny && config.shares.is_some() {
            // The caps of shares are checked with the requested budget. The total is checked with
            // the messages.
            if let Err(error @ DriverError::OverShareCap { .. }) = driver.plan(&blocks, config) {
                return Err(error.into());
            }
        }
        let budget = config.token_budget;
        let mut fit = |planned, budget| maker.fit(plan, planned, budget, config.overflow);
        let Some(budget) = budget.filter(|_| rules.headroom > 0.0) else {
            return fit(budget, budget);
        };
        // A tenth of the headroom may be used, because another plan takes time.
        let (planned, limit) =
            (without(budget, rules.headroom), without(budget, rules.headroom * 0.9));
        match fit(Some(planned), Some(limit)) {
            Ok(messages) if maker.has_question(&messages.plan) => Ok(messages),
            Ok(_) | Err(FitError::OverBudget { .. }) => fit(Some(budget), Some(budget)),
            Err(error) => Err(error),
        }
    })
}

/// Returns the budget without a part of it.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the part is below 1")]
fn without(budget: u32, headroom: f64) -> u32 {
    (f64::from(budget) * (1.0 - headroom)) as u32
}

/// A builder of messages for plans.
struct MessageBuilder<'m, 'b> {
    candidates: &'m ExportCandidates<'b>,
    driver: &'m DefaultDriver,
    counts: &'m MessageCounts<'m>,
    /// The blocks in the form in which they are planned.
    blocks: &'m [Block<'b>],
    /// Tokens of the request other than messages.
    overhead_tokens: u64,
    /// Images to omit. The plan of a text does not know their cost, and would omit texts instead.
    excess_images: &'m BTreeSet<usize>,
    /// `true` if the newest question must be complete.
    keeps_question: bool,
}

/// The messages of a plan.
pub(super) struct Candidate {
    pub(super) exported: ExportResult,
    pub(super) tokens: u64,
    image_tokens: u64,
    pub(super) plan: Plan,
    dropped: usize,
}

impl MessageBuilder<'_, '_> {
    /// Plans messages within a budget. The first plan has the budget `planned`.
    fn fit(
        &self,
        plan: &mut Planner<'_>,
        planned: Option<u32>,
        budget: Option<u32>,
        overflow: Overflow,
    ) -> Result<FittedMessages, FitError> {
        let found = self.search(plan, planned, budget, &BTreeSet::new())?;
        let SearchResult { mut best, plans, mut warnings } = match budget {
            Some(budget) => self.without_thinking(plan, planned, budget, found)?,
            None => found,
        };
        if let Some(budget) = budget {
            best = self.within(best, budget, overflow)?;
            if self.keeps_question {
                best = self.with_question(best, budget)?;
            }
            let request = (budget, self.overhead_tokens);
            warnings = warnings_of(warnings, &best, self.candidates, request);
        }
        best.plan.warnings = warnings;
        Ok(self.finish(best, plans))
    }

    fn finish(&self, best: Candidate, plans: u32) -> FittedMessages {
        let Candidate { exported, tokens, image_tokens, mut plan, dropped } = best;
        plan.items.truncate(self.candidates.blocks.len());
        let overhead_tokens = self.overhead_tokens;
        FittedMessages { exported, tokens, image_tokens, overhead_tokens, plan, plans, dropped }
    }

    /// Returns whether the newest question of the user is complete.
    fn has_question(&self, plan: &Plan) -> bool {
        let question = self.candidates.question.first();
        let is_full = |at: &usize| plan.items[*at].decision == RenderDecision::Full;
        question.is_none_or(|blocks| blocks.iter().all(is_full))
    }

    /// Returns these messages, reduced to the budget if necessary.
    fn within(
        &self,
        made: Candidate,
        budget: u32,
        overflow: Overflow,
    ) -> Result<Candidate, FitError> {
        let is_fit = |made: &Candidate| made.tokens <= u64::from(budget);
        let is_history = |made: &Candidate| is_fit(made) && has_turns(&made.exported);
        let question = &self.candidates.question;
        let asks = |made: &Candidate| question.last().is_none_or(|last| is_seen(made, last));
        let plan = made.plan.clone();
        let made = if is_fit(&made) { made } else { self.without_oldest(budget, made)? };
        if is_history(&made) && asks(&made) {
            return Ok(made);
        }
        for asked in question {
            let found = self.asking(&plan, asked, budget)?;
            if is_history(&found) && asks(&found) {
                return Ok(found);
            }
        }
        // The last question of the user is more important than the roll-up line.
        let mut needed = u64::MAX;
        for is_told in [true, false] {
            for newest in &self.candidates.newest {
                let found = self.alone(&made, newest, is_told)?;
                if is_history(&found) && (asks(&found) || !is_history(&made)) {
                    return Ok(found);
                }
                needed = needed.min(found.tokens);
            }
        }
        if is_fit(&made) {
            return Ok(made);
        }
        let bare = self.alone(&made, &BTreeSet::new(), false)?;
        if is_fit(&bare) {
            return Ok(bare);
        }
        let is_denied = overflow == Overflow::Deny;
        if is_denied || bare.exported.messages.iter().all(|message| message.blocks.is_empty()) {
            let needed = needed.min(bare.tokens);
            return Err(self.over_budget(needed, bare.image_tokens, budget, is_denied));
        }
        Ok(bare)
    }

    /// Returns the messages with the complete newest question. Older messages are omitted for it.
    fn with_question(&self, made: Candidate, budget: u32) -> Result<Candidate, FitError> {
        let Some(question) = self.candidates.question.first() else { return Ok(made) };
        if self.has_question(&made.plan) {
            return Ok(made);
        }
        let fits = |messages: &Candidate| {
            messages.tokens <= u64::from(budget) && self.has_question(&messages.plan)
        };
        let complete = self.asking(&made.plan, question, budget)?;
        if fits(&complete) {
            return Ok(complete);
        }
        let alone = self.alone(&made, question, false)?;
        if fits(&alone) {
            return Ok(alone);
        }
        Err(self.over_budget(alone.tokens, alone.image_tokens, budget, true))
    }

    fn over_budget(
        &self,
        needed: u64,
        image_tokens: u64,
        budget: u32,
        is_denied: bool,
    ) -> FitError {
        let overhead_tokens = self.overhead_tokens;
        FitError::OverBudget { needed, image_tokens, overhead_tokens, budget, is_denied }
    }

    /// Returns the messages of a plan with all of the blocks in `asked`. Drops the oldest messages
    /// to make room for them.
    fn asking(
        &self,
        plan: &Plan,
        asked: &BTreeSet<usize>,
        budget: u32,
    ) -> Result<Candidate, DriverError> {
        let mut plan = plan.clone();
        for at in asked {
            plan.items[*at].decision = RenderDecision::Full;
        }
        let made = self.make(plan, &BTreeSet::new())?;
        if made.tokens <= u64::from(budget) { Ok(made) } else { self.without_oldest(budget, made) }
    }

    /// Returns messages with only Critical and pinned blocks and the blocks in `kept`. With
    /// `is_told`, they have the roll-up line.
    fn alone(
        &self,
        made: &Candidate,
        kept: &BTreeSet<usize>,
        is_told: bool,
    ) -> Result<Candidate, DriverError> {
        let mut plan = made.plan.clone();
        plan.rolled_up = None;
        for at in &self.candidates.planned {
            let item = &mut plan.items[*at];
            if kept.contains(at) {
                item.decision = RenderDecision::Full;
            } else if item.priority == Priority::Background {
                item.decision = RenderDecision::Omit;
            } else if !item.reason.is_fixed() {
                item.decision = RenderDecision::RolledUp;
            }
        }
        let dropped = made.dropped.saturating_sub(usize::from(!kept.is_empty()));
        if is_told {
            return Ok(Candidate { dropped, ..self.make(plan, &BTreeSet::new())? });
        }
        self.candidates.show_companions(&mut plan);
        let texts = self.driver.block_texts(self.blocks, &plan)?;
        let exported = self.candidates.export(&plan, &texts, &BTreeSet::new());
        for at in self.candidates.unseen(&plan, &exported) {
            plan.items[at].decision = RenderDecision::Omit;
        }
        Ok(self.counted(exported, plan, dropped))
    }

    /// Returns the messages of a plan without the blocks in `dropped`. The roll-up line counts
    /// these and the blocks that depend on them, such as a result without its call.
    fn make(&self, mut plan: Plan, dropped: &BTreeSet<usize>) -> Result<Candidate, DriverError> {
        self.candidates.show_companions(&mut plan);
        for at in self.excess_images {
            plan.items[*at].reason = DecisionReason::OverBudget;
        }
        let is_any_omitted = !dropped.is_empty() || !self.excess_images.is_empty();
        if !is_any_omitted && self.candidates.is_complete(&plan) {
            return Ok(self.counted(self.candidates.full_export.clone(), plan, 0));
        }
        let dropped = &self.candidates.with_rest(dropped.iter().chain(self.excess_images));
        let mut texts = self.driver.block_texts(self.blocks, &plan)?;
        let mut exported = self.candidates.export(&plan, &texts, dropped);
        let unseen = self.candidates.unseen(&plan, &exported);
        let is_told = |at: &usize| plan.items[*at].decision == RenderDecision::RolledUp;
        let told = plan.rolled_up.map_or(0, |of| of.count);
        if unseen.len() != told || !unseen.iter().all(is_told) {
            let tokens = unseen.iter().map(|at| u64::from(plan.items[*at].content_tokens)).sum();
            for at in &unseen {
                plan.items[*at].decision = RenderDecision::RolledUp;
            }
            let rolled_up = RollUp { count: unseen.len(), tokens };
            plan.rolled_up = (rolled_up.count > 0).then_some(rolled_up);
            texts = self.driver.block_texts(self.blocks, &plan)?;
            exported = self.candidates.export(&plan, &texts, dropped);
        }
        Ok(self.counted(exported, plan, 0))
    }

    fn counted(&self, exported: ExportResult, plan: Plan, dropped: usize) -> Candidate {
        let is_full = |at: usize| plan.items[at].decision == RenderDecision::Full;
        let image_tokens = self.candidates.image_tokens(&exported, is_full);
        let tokens = self.counts.count(&exported) + self.overhead_tokens + image_tokens;
        Candidate { exported, tokens, image_tokens, plan, dropped }
    }

    /// Drops as few of the oldest messages as necessary. Keeps system messages, and drops the
    /// newest user message last.
    fn without_oldest(&self, budget: u32, made: Candidate) -> Result<Candidate, DriverError> {
        let Candidate { exported, plan, .. } = made;
        let is_fixed = |at: &usize| plan.items[*at].reason.is_fixed();
        let mut order: Vec<&[usize]> = Vec::new();
        for message in &exported.messages {
            if !message.blocks.is_empty()
                && !self.candidates.with_rest(message.blocks.iter()).iter().any(is_fixed)
            {
                order.push(&message.blocks);
            }
        }
        let question = self.candidates.question.last();
        let asks = |message: &&ExportedMessage| {
            question.is_some_and(|last| message.blocks.iter().any(|at| last.contains(at)))
        };
        let of_user = |message: &&ExportedMessage| message.role == "user";
        let newest = exported.messages.iter().rfind(asks);
        let newest = newest.or_else(|| exported.messages.iter().rfind(of_user));
        if let Some(newest) = newest
            && let Some(at) = order.iter().rposition(|blocks| *blocks == newest.blocks)
        {
            let last = order.remove(at);
            order.push(last);
        }
        let without = |count_of: usize| {
            let dropped = order[..count_of].iter().flat_map(|blocks| blocks.iter().copied());
            let made = self.make(plan.clone(), &dropped.collect())?;
            Ok(Candidate { dropped: count_of, ..made })
        };
        let (mut too_few, mut enough) = (0, order.len());
        while too_few + 1 < enough {
            let middle = too_few + (enough - too_few) / 2;
            if without(middle)?.tokens <= u64::from(budget) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        without(enough)
    }
}

/// Returns whether the messages show each of these blocks, at least in part; Background blocks
/// are ignored.
fn is_seen(made: &Candidate, blocks: &BTreeSet<usize>) -> bool {
    let shown = |at: &usize| made.exported.messages.iter().any(|of| of.blocks.contains(at));
    blocks.iter().all(|at| {
        let item = &made.plan.items[*at];
        let is_said = !matches!(item.decision, RenderDecision::Placeholder { .. });
        item.priority == Priority::Background || is_said && shown(at)
    })
}

/// Returns whether the messages contain a part of the conversation other than system messages.
pub(super) fn has_turns(exported: &ExportResult) -> bool {
    let is_turn = |message: &ExportedMessage| !is_system(message) && !message.blocks.is_empty();
    exported.messages.iter().any(is_turn)
}

fn is_system(message: &ExportedMessage) -> bool {
    matches!(message.role, "system" | "developer")
}

/// Returns the warnings of a plan for this budget. Warnings about the planned text are replaced
/// with those about the messages.
fn warnings_of(
    mut of_plan: Vec<Warning>,
    made: &Candidate,
    candidates: &ExportCandidates<'_>,
    (budget, overhead_tokens): (u32, u64),
) -> Vec<Warning> {
    of_plan.retain(|warning| {
        !matches!(
            warning.code,
            WarningCode::OverBudget
                | WarningCode::BelowFloor
                | WarningCode::EmptyResult
                | WarningCode::BudgetIgnored
        )
    });
    let mut warn = |code, message| of_plan.push(Warning::new(code, None, message));
    // The roll-up line does not count Background blocks.
    let is_untold = |at: &usize| {
        let item = &made.plan.items[*at];
        item.decision == RenderDecision::Omit && item.priority != Priority::Background
    };
    if made.tokens > u64::from(budget) {
        let of_request = if overhead_tokens > 0 { "the request's tools, " } else { "" };
        let message = format!(
            "{}: only {of_request}critical and pinned blocks remain",
            over(made.tokens, budget, made.image_tokens, overhead_tokens)
        );
        warn(WarningCode::OverBudget, message);
    } else if candidates.planned.iter().any(is_untold) {
        let tokens = lcp_driver::plural(budget, "token");
        let message = format!("budget of {tokens} is too small to list omitted content");
        warn(WarningCode::BelowFloor, message);
    }
    let mut seen = made.exported.messages.iter().flat_map(|message| &message.blocks);
    let tells =
        |at: &usize| !matches!(made.plan.items[*at].decision, RenderDecision::Placeholder { .. });
    if !seen.any(tells) && !candidates.planned.is_empty() {
        let blocks = lcp_driver::plural(candidates.planned.len(), "block");
        let tokens = lcp_driver::plural(budget, "token");
        let message = format!("budget of {tokens} is too small to show any content of {blocks}");
        warn(WarningCode::EmptyResult, message);
    }
    of_plan
}
