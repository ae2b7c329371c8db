//! The parts that the session tools share.

use std::sync::Arc;

use lcp_app::Result;
use lcp_app::sessions::{ConversationStatus, HandoffSettings, Sessions};
use lcp_continuity::UsageSource;
use serde::Serialize;

use crate::error::ToolResult;
use crate::state::ServerState;

/// The options of a session tool.
#[derive(Debug, Default)]
pub(crate) struct SessionOptions {
    pub(crate) encoding: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) handoff: HandoffSettings,
    /// `true` to create the store if it does not exist.
    pub(crate) may_create: bool,
}

/// Calls `work` with the sessions of a server.
pub(crate) fn with_sessions<T>(
    state: &ServerState,
    options: SessionOptions,
    work: impl FnOnce(&Sessions) -> Result<T>,
) -> ToolResult<T> {
    let settings = &state.config.settings;
    let estimator = state.tokenizer(options.encoding, options.model, false)?.estimator;
    state.config.sessions.with_store(settings, options.may_create, |store| {
        let (handoff, file) = (&options.handoff, &settings.continuity);
        let sessions = Sessions::new(Arc::clone(store), estimator, handoff, file);
        Ok(work(&sessions.with_usage(settings.usage))?)
    })
}

/// The status of a conversation.
#[derive(Debug, Serialize)]
pub(crate) struct UsageFacts {
    /// The id of the conversation.
    conversation: String,
    /// `true` if this call started the conversation.
    new: bool,
    /// The number of messages that this call recorded.
    recorded: u64,
    /// The number of messages of the conversation.
    messages: u64,
    /// The context window of the model in tokens.
    window: u32,
    /// The tokens of the window that are reserved for the output.
    output_reserve: u32,
    /// The context window before this call; null if this call did not change it.
    previous_window: Option<u32>,
    /// The number of used tokens.
    total_tokens: u32,
    /// The source of this number: counted (by the tokenizer) or reported (by the provider).
    source: &'static str,
    /// The used part of the window in percent.
    utilization_percent: u64,
    /// The estimated number of remaining turns.
    remaining_turns: u32,
    /// The next step: none, warning or hand_off.
    decision: &'static str,
    /// `true` if a hand-off is due.
    should_handoff: bool,
    /// The reason for the next step.
    reason: String,
    /// The level of the budget (80 % of the window minus the reserve): normal, warning or critical.
    budget_level: &'static str,
    /// The used part of the budget in percent.
    budget_percent: u64,
    /// The tokens that are left of the budget.
    budget_remaining: u32,
    /// The average tokens after the last five answers; null without answers.
    trend: Option<u64>,
    /// `true` if the context should be compacted.
    compaction_due: bool,
    /// The id of a prepared hand-off that is not yet resumed; null if there is none.
    handoff: Option<String>,
    /// Warnings about this call.
    warnings: Vec<String>,
}

impl From<ConversationStatus> for UsageFacts {
    fn from(status: ConversationStatus) -> Self {
        let decision = &status.decision;
        let usage = &decision.current_usage;
        Self {
            new: status.is_new,
            recorded: status.recorded,
            messages: status.messages,
            window: status.window,
            output_reserve: status.output_reserve,
            previous_window: status.previous_window.map(|(window, _)| window),
            total_tokens: usage.total_tokens,
            source: match usage.source {
                UsageSource::Counted => "counted",
                UsageSource::Reported => "reported",
            },
            utilization_percent: status.percent(),
            remaining_turns: decision.estimated_remaining_turns,
            decision: status.verdict.name(),
            should_handoff: decision.should_handoff,
            reason: status.reason(),
            budget_level: status.budget.status.level.name(),
            budget_percent: status.budget.status.percent,
            budget_remaining: status.budget.status.remaining,
            trend: status.budget.stored.history.trend(),
            compaction_due: status.is_compaction_due,
            warnings: status.warnings,
            conversation: status.conversation,
            handoff: status.handoff,
        }
    }
}
