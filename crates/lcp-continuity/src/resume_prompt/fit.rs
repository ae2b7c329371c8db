//! Selects as many sections of a directive as the budget allows, the most important ones first.

use std::sync::Arc;

use lcp_driver::{
    DecisionReason, DefaultDriver, DriverConfig, DriverError, Excerpts, Plan, WarningCode,
};
use lcp_tokens::TokenEstimator;

use super::DirectiveOptions;
use super::draft::Draft;
use super::parts::{Parts, Section, Selection};
use crate::model::DirectiveStyle;

/// The number of attempts to add a smaller section after one that did not fit.
const TRIES_MAX: usize = 16;

/// A directive and its plan.
pub(super) struct FittedDraft {
    pub(super) draft: Draft,
    pub(super) plan: Plan,
}

impl FittedDraft {
    /// Returns whether the text shows content, and not only a list of omissions.
    pub(super) fn shows_content(&self) -> bool {
        self.plan.warnings.iter().all(|warning| warning.code != WarningCode::EmptyResult)
    }

    /// Returns whether the selected content fits, and all other content is at least counted.
    fn is_within_budget(&self) -> bool {
        let is_below = |code| code == WarningCode::BelowFloor;
        let mut warnings = self.plan.warnings.iter();
        self.plan.overflow_tokens() == 0 && !warnings.any(|warning| is_below(warning.code))
    }
}

struct Variant {
    section: usize,
    selection: Selection,
    /// The tokens of its text alone.
    tokens: u32,
}

/// Selects sections until the budget is used up. Returns the directive and its text.
pub(super) fn fit(
    parts: &Parts<'_>,
    options: &DirectiveOptions,
    counter: Arc<dyn TokenEstimator>,
) -> Result<(FittedDraft, String), DriverError> {
    let config = DriverConfig {
        mode: options.mode,
        // A part of a decision may say the opposite of the whole. So show it in full or as a line.
        excerpts: Excerpts::Off,
        ..DriverConfig::default()
    };
    let driver = DefaultDriver::new(Arc::clone(&counter));
    let budget = options.budget.unwrap_or(u32::MAX);
    let fitter = Fitter { parts, style: options.style, config, budget, driver, counter };
    let best = fitter.fit()?;
    let text = fitter.driver.render_plan(&best.draft.blocks, &best.plan)?;
    Ok((best, text))
}

struct Fitter<'p, 'h> {
    parts: &'p Parts<'h>,
    style: DirectiveStyle,
    config: DriverConfig,
    budget: u32,
    driver: DefaultDriver,
    counter: Arc<dyn TokenEstimator>,
}

impl Fitter<'_, '_> {
    fn fit(&self) -> Result<FittedDraft, DriverError> {
        let sections = &self.parts.sections;
        let all = self.run(&vec![Selection::Full; sections.len()])?;
        if all.is_within_budget() {
            return Ok(all);
        }
        // A selection of no sections always counts as fitting.
        let (fits, best) =
            self.largest_fit(sections.len(), |count| select_first(sections.len(), count))?;
        let selections = select_first(sections.len(), fits);
        let best = match best {
            Some(best) => best,
            None => self.run(&selections)?,
        };
        self.fill_remaining(fits, selections, best)
    }

    /// Adds the essential sections from `from` on that still fit.
    fn fill_remaining(
        &self,
        from: usize,
        mut selections: Vec<Selection>,
        mut best: FittedDraft,
    ) -> Result<FittedDraft, DriverError> {
        let variants = self.variants(from);
        let mut variants = variants.as_slice();
        for _ in 0..TRIES_MAX {
            let may = may_fit(variants, self.remaining_tokens(&best));
            let with = |count: usize| {
                let mut selections = selections.clone();
                for at in &may[..count] {
                    selections[variants[*at].section] = variants[*at].selection;
                }
                selections
            };
            let (added, found) = self.largest_fit(may.len() + 1, with)?;
            if let Some(found) = found {
                (selections, best) = (with(added), found);
            }
            let Some(failed) = may.get(added) else { break };
            variants = &variants[failed + 1..];
        }
        Ok(best)
    }

    /// Finds by bisection the largest number of selections, below `too_many`, that fits, and
    /// renders it.
    fn largest_fit(
        &self,
        mut too_many: usize,
        selections: impl Fn(usize) -> Vec<Selection>,
    ) -> Result<(usize, Option<FittedDraft>), DriverError> {
        let (mut fits, mut best) = (0, None);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            let found = self.run(&selections(middle))?;
            if found.is_within_budget() {
                (fits, best) = (middle, Some(found));
            } else {
                too_many = middle;
            }
        }
        Ok((fits, best))
    }

    fn run(&self, selections: &[Selection]) -> Result<FittedDraft, DriverError> {
        let draft = Draft::new(self.parts, selections, self.style);
        // A replay emits no events and sets no gauges: most of these plans are discarded.
        let mut plans = self.driver.replay(&draft.blocks, &self.config, &[self.budget])?;
        // There is one plan, for the one budget.
        Ok(FittedDraft { draft, plan: plans.swap_remove(0) })
    }

    /// Lists the variants of the essential sections, each with its minimum cost.
    fn variants(&self, from: usize) -> Vec<Variant> {
        let cost = |words: &[String]| -> u32 {
            words.iter().map(|words| self.counter.estimate(words)).sum()
        };
        let mut variants = Vec::new();
        let sections = self.parts.sections.iter().enumerate().skip(from);
        for (at, section) in sections.take_while(|(_, section)| section.is_essential()) {
            let mut add =
                |selection, tokens| variants.push(Variant { section: at, selection, tokens });
            match section {
                Section::Anchor(at) => {
                    add(Selection::Full, self.counter.estimate(&self.parts.anchors[*at].text));
                }
                Section::Task(at) => {
                    let task = self.parts.tasks[*at];
                    let remaining = cost(&task.remaining_steps);
                    add(Selection::Full, remaining + cost(&task.done_steps));
                    if !task.done_steps.is_empty() {
                        add(Selection::WithoutDone, remaining);
                    }
                }
                _ => add(Selection::Full, 0),
            }
        }
        variants
    }

    /// Returns the number of tokens that the selected content leaves.
    fn remaining_tokens(&self, fitted: &FittedDraft) -> u32 {
        let picked = fitted.plan.items.iter().filter(|item| item.reason == DecisionReason::Pinned);
        let picked: u32 = picked.map(|item| item.tokens).sum();
        self.budget.saturating_sub(picked)
    }
}

/// Returns the variants that may fit into `left` tokens, at most one of each section.
fn may_fit(variants: &[Variant], mut left: u32) -> Vec<usize> {
    let mut last = None;
    let mut may = Vec::new();
    for (at, variant) in variants.iter().enumerate() {
        if variant.tokens <= left && last != Some(variant.section) {
            left -= variant.tokens;
            last = Some(variant.section);
            may.push(at);
        }
    }
    may
}

fn select_first(sections: usize, whole: usize) -> Vec<Selection> {
    let selection = |at| if at < whole { Selection::Full } else { Selection::Omitted };
    (0..sections).map(selection).collect()
}
