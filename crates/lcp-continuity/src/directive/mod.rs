//! What the next session is told first (RFC 0007 §7).

mod actions;
pub(crate) mod blocks;
mod concise;
mod draft;
mod fit;
mod items;
mod missing;
mod narrative;
mod parts;
mod shorter;
mod structured;
mod wording;

use std::sync::Arc;

use lcp_driver::{DriverError, OutputMode};
use lcp_tokens::TokenEstimator;
use serde::{Deserialize, Serialize};

use crate::fidelity::{self, Fidelity};
use crate::model::SessionHandoff;
use parts::Parts;

pub(crate) use items::beginning;

/// How a directive is worded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectiveStyle {
    /// Lists, few words.
    Concise,
    /// Sentences, as one would brief a colleague.
    Narrative,
    /// A part for each thing, so that a budget can choose among them.
    #[default]
    Structured,
}

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
    /// Those that a hand-off was prepared for: its target as the budget, its style
    /// and mode.
    #[must_use]
    pub fn of(handoff: &SessionHandoff) -> Self {
        let metadata = &handoff.metadata;
        let (style, mode) = (metadata.style, metadata.mode);
        Self { budget: Some(metadata.target_tokens), style, mode }
    }
}

/// What the next session is told first.
#[derive(Clone, Debug, PartialEq)]
pub struct ContinuationDirective {
    /// What happened.
    pub summary: String,
    /// What to do now, the first first.
    pub immediate_actions: Vec<String>,
    /// What not to forget: anchors, word for word.
    pub reminders: Vec<String>,
    /// What the user wants.
    pub user_intent: Option<String>,
    /// How it is worded.
    pub style: DirectiveStyle,
    /// How it is rendered.
    pub mode: OutputMode,
    /// All of it as one system prompt, within the budget.
    pub text: String,
    /// The tokens of that.
    pub tokens: u32,
    /// What it keeps of the hand-off.
    pub fidelity: Fidelity,
    /// What gave way, in words; nothing does so silently.
    pub warnings: Vec<String>,
}

/// What the next session is told first, within the budget as `counter` counts.
///
/// What does not fit gives way in this order: the state, the newest messages from the
/// oldest on, the summary (by its shorter forms), actions, the user's intent; anchors
/// and steps of tasks last. No anchor is ever cut. What gave way is counted in the
/// text and named in the warnings; only a part that costs no more than the line which
/// would stand for it stays in any case (RFC 0002 §3). A budget that is too small for
/// any line gives the empty text.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_continuity::directive::{DirectiveOptions, continuation_directive};
/// # use lcp_continuity::SessionHandoff;
/// use lcp_tokens::HeuristicEstimator;
///
/// # fn brief(handoff: &SessionHandoff) -> Result<(), lcp_driver::DriverError> {
/// let options = DirectiveOptions { budget: Some(2_000), ..DirectiveOptions::of(handoff) };
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
    let text = fitted.rendered.text.as_str();
    let warnings = missing::warnings(&parts, &fitted);
    Ok(ContinuationDirective {
        summary: handoff.summary.clone(),
        fidelity: fidelity::measure(handoff, text),
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
