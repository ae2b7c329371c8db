//! The tool `should_handoff`, which reports the usage of the context window and the next step.

use schemars::JsonSchema;
use serde::Deserialize;

use lcp_app::sessions::{ConversationStatus, NO_STORE};

use super::sessions::{SessionOptions, UsageFacts, with_sessions};
use crate::error::ToolResult;
use crate::state::ServerState;
use crate::tool::{self, SideEffect, ToolOutput};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    conversation: String,
    #[schemars(skip)]
    encoding: Option<String>,
    model: Option<String>,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "should_handoff";
    const DESCRIPTION: &'static str =
        "Returns how full the context window is and whether a hand-off is due. Records nothing.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = UsageFacts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<UsageFacts>> {
        let Input { conversation, model, encoding } = input;
        let options = SessionOptions { encoding, model, ..SessionOptions::default() };
        let status = match with_sessions(state, options, |sessions| {
            sessions.should_handoff(&conversation)
        }) {
            Err(error) if error.code == NO_STORE => ConversationStatus::unknown(&conversation),
            status => status?,
        };
        Ok(ToolOutput::from_facts(status.into()))
    }
}
