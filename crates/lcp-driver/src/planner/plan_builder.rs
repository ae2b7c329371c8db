//! The builder of the plan from its decisions.

use super::scan::{BlockFacts, Scan};
use super::share_budgets::{ShareBudgets, wanted_tokens, warn_of_caps};
use super::{PlanInputs, RenderedPlan};
use crate::assemble::roll_up_line;
use crate::error::DriverError;
use crate::plan::{DecisionReason, Plan, PlanItem, RenderDecision, RollUp};
use crate::prompt_cache::TextReuse;
use crate::warning::{Warning, WarningCode};

impl Scan<'_, '_> {
    /// Builds the plan, with the tokens of each block, and the text.
    pub(super) fn finish(
        &self,
        budget: Option<u32>,
        inputs: PlanInputs,
        mut warnings: Vec<Warning>,
    ) -> Result<(Plan, String), DriverError> {
        let PlanInputs { rendered, shares, stable } = inputs;
        let RenderedPlan { decisions, text, rolled_up, used, optimality, segments, .. } = rendered;
        // An empty text has no overhead: `apportion_tokens` distributes its 0 tokens.
        let parts: Vec<_> = decisions.iter().map(|(_, _, tokens)| *tokens).collect();
        let (overhead_tokens, parts) = apportion_tokens(parts, self.overhead(rolled_up), used);
        let mut shown = self.shown.iter().zip(decisions).zip(parts).peekable();
        let item = |(i, facts): (usize, &BlockFacts)| {
            if let Some(((_, part), tokens)) = shown.next_if(|(((at, _), _), _)| *at == i) {
                let (decision, reason, _) = part;
                return facts.item(decision, reason, tokens);
            }
            let (decision, reason) = self.unshown_decision(i);
            facts.item(decision, reason, 0)
        };
        let items: Vec<_> = self.facts.iter().enumerate().map(item).collect();
        let wanted_budget = self.wanted_budget(&shares, &items);
        // A fresh stable text has room for everything only below the high watermark. A larger
        // budget does not add anything to a text that was appended to.
        let wanted_budget = match (&stable, &self.config.stable) {
            (Some(used), Some(stable)) => wanted_budget
                .filter(|_| used.reuse != TextReuse::Appended)
                .map(|tokens| stable.watermarks.budget_for(tokens)),
            _ => wanted_budget,
        };
        let share_usage = shares.usage(self, &items);
        warn_of_caps(&share_usage, self.config.overflow, &mut warnings)?;
        text.warn_of_special(|block| block, &mut warnings);
        cap_warnings(&mut warnings);
        let plan = Plan {
            shares: share_usage,
            segments,
            duplicates: self.duplicates.as_deref().cloned(),
            wanted_budget: wanted_budget.filter(|_| budget.is_some()),
            objective: self.config.objective,
            optimality,
            stable,
            mode: self.config.mode,
            line_numbers: self.config.line_numbers,
            verbosity: self.config.verbosity,
            budget,
            encoding: self.estimator.name().to_owned(),
            exact: self.estimator.is_exact(),
            items,
            rolled_up,
            used_tokens: used,
            overhead_tokens,
            warnings,
        };
        Ok((plan, text.text))
    }

    /// Returns the decision for block `i`, which cannot be shown.
    fn unshown_decision(&self, i: usize) -> (RenderDecision, DecisionReason) {
        if self.blocks[i].content.is_metadata() {
            return (RenderDecision::Metadata, DecisionReason::Metadata);
        }
        let covered = self.duplicates.as_ref().and_then(|all| all.covered.get(&i));
        covered.map_or((RenderDecision::Filtered, DecisionReason::Filtered), |covered| {
            let reason = DecisionReason::Duplicate(covered.relation);
            (RenderDecision::Duplicate { by: covered.by }, reason)
        })
    }

    /// Returns the tokens of the envelope and the roll-up line.
    fn overhead(&self, rolled_up: Option<RollUp>) -> u64 {
        let line = rolled_up.map_or(0, |rolled_up| {
            self.estimator.estimate(&roll_up_line(rolled_up, self.config.mode))
        });
        self.envelope + u64::from(line)
    }

    /// Returns the tokens of each candidate as a part of the whole text.
    pub(super) fn apportioned_tokens(&self, rendered: &RenderedPlan) -> Vec<u32> {
        let tokens: Vec<_> = rendered.decisions.iter().map(|(_, _, tokens)| *tokens).collect();
        apportion_tokens(tokens, self.overhead(rendered.rolled_up), rendered.used).1
    }

    /// Returns the budget with which every block gets all that it may have; `None` if no block
    /// lacks detail for want of budget.
    fn wanted_budget(&self, shares: &ShareBudgets, items: &[PlanItem]) -> Option<u64> {
        let fill = self.config.fill;
        // Background blocks do not increase the wanted budget unless `fill` is on.
        let wanting = self.candidates.iter().zip(&self.shown);
        let mut wanting = wanting.filter(|(candidate, _)| wanted_tokens(candidate, fill) > 0);
        let lacks = wanting.any(|(_, (i, _))| items[*i].reason == DecisionReason::OverBudget);
        lacks.then(|| self.envelope + shares.wanted(&self.candidates, fill, self.roll_up_bound()))
    }
}
/// The maximum number of warnings of one kind; the rest is only counted.
const WARNINGS_OF_A_KIND_MAX: usize = 50;

/// Keeps the first warnings of each kind, and adds one with the number of the others.
pub(crate) fn cap_warnings(warnings: &mut Vec<Warning>) {
    let mut counts: Vec<(WarningCode, usize)> = Vec::new();
    warnings.retain(|warning| {
        let known = counts.iter().position(|(code, _)| *code == warning.code);
        let at = known.unwrap_or_else(|| {
            counts.push((warning.code, 0));
            counts.len() - 1
        });
        counts[at].1 += 1;
        counts[at].1 <= WARNINGS_OF_A_KIND_MAX
    });
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > WARNINGS_OF_A_KIND_MAX) {
        let message = format!("and {} more of this kind", count - WARNINGS_OF_A_KIND_MAX);
        warnings.push(Warning::new(code, None, message));
    }
}

/// Adjusts the overhead and the tokens of each part so that they add up to `used`. Returns the
/// overhead and the tokens of the parts.
///
/// For additive estimators they already add up. For others the difference is distributed in
/// proportion, rounded so that the running sums are exact.
fn apportion_tokens(tokens: Vec<u32>, overhead: u64, used: u32) -> (u32, Vec<u32>) {
    let parts = tokens.iter().map(|tokens| u64::from(*tokens)).sum::<u64>() + overhead;
    let used = u64::from(used);
    if let Ok(overhead) = u32::try_from(overhead)
        && parts == used
    {
        return (overhead, tokens);
    }
    let (mut sum, mut given) = (0u64, 0u64);
    let mut share = |tokens: u64| {
        sum += tokens;
        // A product of a sum of at most 54 bits and a 32-bit number fits into a `u128`.
        let up_to = u128::from(sum) * u128::from(used) / u128::from(parts.max(1));
        let up_to = u64::try_from(up_to).unwrap_or(used);
        let share = up_to - given;
        given = up_to;
        u32::try_from(share).unwrap_or(u32::MAX)
    };
    let overhead = share(overhead);
    (overhead, tokens.into_iter().map(|tokens| share(u64::from(tokens))).collect())
}
