//! The parts that the session tools share.

use std::sync::Arc;

use lcp_app::Result;
use lcp_app::sessions::{ConversationStatus, HandoffSettings, Sessions};
use lcp_continuity::UsageSource;
use schemars::JsonSchema;
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
        Ok(work(&Sessions::new(Arc::clone(store), estimator, handoff, file))?)
    })
}

/// What is known of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UsageFacts {
    /// Its id.
    conversation: String,
    /// Whether it began with this call.
    new: bool,
    /// Messages that this call recorded.
    recorded: u64,
    /// Messages that it has.
    messages: u64,
    /// Tokens of the model's window.
    window: u32,
    /// Tokens of it that the output needs.
    output_reserve: u32,
    /// Tokens that are used.
    total_tokens: u32,
    /// Where that figure is from: counted or reported.
    source: &'static str,
    /// The part of the window that is used, in percent.
    utilization_percent: u64,
    /// Turns that are left, about.
    remaining_turns: u32,
    /// What is to be done: none, warning or hand_off.
    decision: &'static str,
    /// Whether it should be handed over now.
    should_handoff: bool,
    /// Why.
    reason: String,
    /// A hand-off of it that waits to be resumed.
    handoff: Option<String>,
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
            total_tokens: usage.total_tokens,
            source: match usage.source {
                UsageSource::Counted => "counted",
                UsageSource::Reported => "reported",
            },
            utilization_percent: status.percent(),
            remaining_turns: decision.estimated_remaining_turns,
            decision: status.verdict.name(),
            should_handoff: decision.should_handoff,
            reason: decision.reason.clone(),
            conversation: status.conversation,
            handoff: status.handoff,
        }
    }
}
