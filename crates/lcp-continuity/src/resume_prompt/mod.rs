//! The resume prompt: the continuation directive that the next session begins with (RFC 0007 §7).

pub(crate) mod blocks;
mod draft;
mod fit;
mod parts;
mod quoting;
mod styles;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use lcp_driver::{DriverError, OutputMode, RenderDecision, WarningCode};
use lcp_tokens::TokenEstimator;

use crate::coverage::measure;
use crate::model::{ContinuationDirective, DirectiveStyle, SessionHandoff};
use fit::FittedDraft;
use parts::Parts;

pub(crate) use quoting::truncate_inline;

/// What a directive is to be like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectiveOptions {
    /// Tokens that its text may have, 0 included; `None` for any number.
    pub budget: Option<u32>,
    /// How it is worded.
    pub style: DirectiveStyle,
    /// How it is rendered.
    pub mode: OutputMode,
}

impl DirectiveOptions {
    /// Those that a hand-off was prepared for: its target as the budget, its style and mode.
    #[must_use]
    pub fn from_handoff(handoff: &SessionHandoff) -> Self {
        let metadata = &handoff.metadata;
        let (style, mode) = (metadata.style, metadata.mode);
        Self { budget: Some(metadata.target_tokens), style, mode }
    }
}

/// What the next session is told first, within the budget as `counter` counts.
///
/// What does not fit gives way in this order: the state, the newest messages from the oldest on,
/// the summary (by its shorter forms), actions, the user's intent; anchors and steps of tasks last.
/// No anchor is ever cut. What gave way is counted in the text and named in the warnings; only a
/// part that costs no more than the line which would stand for it stays in any case (RFC 0002 §3).
/// A budget that is too small for any line gives the empty text.
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
/// Those of the driver; none of them is expected for a hand-off.
pub fn continuation_directive(
    handoff: &SessionHandoff,
    options: &DirectiveOptions,
    counter: Arc<dyn TokenEstimator>,
) -> Result<ContinuationDirective, DriverError> {
    let parts = Parts::new(handoff);
    let fitted = fit::fit(&parts, options, counter)?;
    let coverage = measure(handoff, &fitted.rendered.text);
    let warnings = omissions(&coverage.lost, &fitted);
    Ok(ContinuationDirective {
        summary: handoff.summary.clone(),
        coverage,
        reminders: parts.anchors.iter().map(|anchor| anchor.text.clone()).collect(),
        user_intent: handoff.user_intent.clone(),
        style: options.style,
        mode: options.mode,
        tokens: fitted.rendered.plan.used_tokens,
        warnings,
        immediate_actions: parts.actions,
        text: fitted.rendered.text,
    })
}

/// Lists what a text does not show in full, each once; nothing where it shows all.
/// Anchors, steps and things of the state that are `lost` are named one by one.
fn omissions(lost: &[String], fitted: &FittedDraft) -> Vec<String> {
    let plan = &fitted.rendered.plan;
    let is_of_text = |code| {
        use WarningCode::{BelowFloor, EmptyResult, NonUtf8Content};
        matches!(code, BelowFloor | EmptyResult | NonUtf8Content)
    };
    let of_text = plan.warnings.iter().filter(|warning| is_of_text(warning.code));
    let mut warnings: Vec<_> = of_text.map(|warning| warning.message.clone()).collect();
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
