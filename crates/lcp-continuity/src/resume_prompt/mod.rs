//! The resume prompt: the continuation directive that the next session begins with (RFC 0007 §7).

pub(crate) mod blocks;
mod draft;
mod fit;
mod parts;
mod quoting;
mod styles;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use lcp_driver::{DriverError, OutputMode, Plan, RenderDecision, WarningCode, plural};
use lcp_tokens::TokenEstimator;

use crate::coverage::measure;
use crate::model::{ContinuationDirective, DirectiveStyle, SessionHandoff};
use fit::FittedDraft;
use parts::Parts;

pub(crate) use quoting::truncate_inline;

/// Options for a directive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectiveOptions {
    /// The token budget of the text. 0 is allowed; `None` means no limit.
    pub budget: Option<u32>,
    /// The wording.
    pub style: DirectiveStyle,
    /// The output mode.
    pub mode: OutputMode,
}

impl DirectiveOptions {
    /// Returns the options that a hand-off was prepared with: its target as the budget, its style
    /// and its mode.
    #[must_use]
    pub fn from_handoff(handoff: &SessionHandoff) -> Self {
        let metadata = &handoff.metadata;
        let (style, mode) = (metadata.style, metadata.mode);
        Self { budget: Some(metadata.target_tokens), style, mode }
    }
}

/// Creates the directive, the first text of the next session, within the budget as measured by
/// `counter`.
///
/// If not everything fits, content is shortened or omitted in this order:
///
/// 1. the session state,
/// 2. the newest messages, oldest first,
/// 3. the summary, which is replaced by its shorter forms,
/// 4. the immediate actions,
/// 5. the user's intent,
/// 6. anchors and task steps.
///
/// Anchors are never truncated. Omitted content is counted in the text and named in the warnings. A
/// part that costs no more than its placeholder line is always shown (RFC 0002 §3). If the budget
/// is too small for any line, the text is empty.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_continuity::resume_prompt::{DirectiveOptions, continuation_directive};
/// # use lcp_continuity::SessionHandoff;
/// use lcp_tokens::HeuristicEstimator;
///
/// # fn brief(handoff: &SessionHandoff) -> Result<(), lcp_driver::DriverError> {
/// let options = DirectiveOptions { budget: Some(2_000), ..DirectiveOptions::from_handoff(handoff) };
/// let directive = continuation_directive(handoff, &options, Arc::new(HeuristicEstimator))?;
/// assert!(directive.tokens <= 2_000);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Returns the errors of the driver, which should not occur for a hand-off.
pub fn continuation_directive(
    handoff: &SessionHandoff,
    options: &DirectiveOptions,
    counter: Arc<dyn TokenEstimator>,
) -> Result<ContinuationDirective, DriverError> {
    let parts = Parts::new(handoff);
    let (fitted, text) = fit::fit(&parts, options, counter)?;
    let coverage = measure(handoff, &text);
    let warnings = omissions(&coverage.lost, &fitted, options);
    Ok(ContinuationDirective {
        summary: handoff.summary.clone(),
        coverage,
        reminders: parts.anchors.iter().map(|anchor| anchor.text.clone()).collect(),
        user_intent: handoff.user_intent.clone(),
        style: options.style,
        mode: options.mode,
        tokens: fitted.plan.used_tokens,
        tokens_by_category: tokens_by_category(&fitted.plan),
        warnings,
        immediate_actions: parts.actions,
        text,
    })
}

/// Sums the tokens of the blocks of each category. Categories without tokens are left out.
fn tokens_by_category(plan: &Plan) -> BTreeMap<String, u32> {
    let mut sums = BTreeMap::new();
    for item in plan.items.iter().filter(|item| item.tokens > 0) {
        *sums.entry(item.category.to_string()).or_default() += item.tokens;
    }
    sums
}

/// Returns the smallest budget with which a directive shows content, if the budget of the options
/// is too small for that.
pub(crate) fn smallest_budget(
    handoff: &SessionHandoff,
    options: &DirectiveOptions,
    counter: &Arc<dyn TokenEstimator>,
) -> Result<Option<u32>, DriverError> {
    let parts = Parts::new(handoff);
    let fit = |budget| {
        let options = DirectiveOptions { budget, ..*options };
        Ok::<_, DriverError>(fit::fit(&parts, &options, Arc::clone(counter))?.0)
    };
    if fit(options.budget)?.shows_content() {
        return Ok(None);
    }
    let (mut too_small, mut enough) = (options.budget.unwrap_or(0), fit(None)?.plan.used_tokens);
    while enough.saturating_sub(too_small) > 1 {
        let middle = too_small.midpoint(enough);
        if fit(Some(middle))?.shows_content() {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    Ok(Some(enough))
}

/// Lists everything that a text does not show in full, without duplicates. Lost anchors, task steps
/// and state items are named one by one.
fn omissions(lost: &[String], fitted: &FittedDraft, options: &DirectiveOptions) -> Vec<String> {
    let plan = &fitted.plan;
    let target = plural(options.budget.unwrap_or_default(), "token");
    let of_text = plan.warnings.iter().filter_map(|warning| match warning.code {
        WarningCode::BelowFloor => {
            Some(format!("a target of {target} is too small to list everything that is left out"))
        }
        WarningCode::EmptyResult => {
            Some(format!("a target of {target} leaves no room for content"))
        }
        WarningCode::NonUtf8Content => Some(warning.message.clone()),
        _ => None,
    });
    let mut warnings: Vec<_> = of_text.collect();
    warnings.dedup();
    warnings.extend(lost.iter().map(|lost| format!("left out: {lost}")));
    for (at, name) in &fitted.draft.unpinned {
        match plan.items.get(*at).map(|item| &item.decision) {
            None | Some(RenderDecision::Full) => {}
            Some(decision) if decision.has_content() => {
                warnings.push(format!("shortened: {name} ({})", decision.name()));
            }
            Some(_) => warnings.push(format!("left out: {name}")),
        }
    }
    warnings
}
