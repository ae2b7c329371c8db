//! The tool `should_handoff`, which reports the usage of the context window and the next step.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sessions::{SessionOptions, UsageFacts, with_sessions};
use crate::error::ToolResult;
use crate::state::ServerState;
use crate::tool::{self, SideEffect, ToolOutput};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the conversation.
    conversation: String,
    /// The model of the conversation. It selects the tokenizer.
    model: Option<String>,
    /// The tokenizer. Default: the one of `model` or of the server settings, else o200k_base.
    encoding: Option<String>,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "should_handoff";
    const TITLE: &'static str = "Check whether a hand-off is due";
    const DESCRIPTION: &'static str = "Reports how much of its context window a conversation uses, \
        how many turns remain, and whether a hand-off is due. Use it to check a conversation \
        without recording anything.";
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    type Input = Input;
    type Facts = UsageFacts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<UsageFacts>> {
        let Input { conversation, model, encoding } = input;
        let options = SessionOptions { encoding, model, ..SessionOptions::default() };
        let tracked =
            with_sessions(state, options, |sessions| sessions.should_handoff(&conversation))?;
        Ok(ToolOutput::from_facts(tracked.into()))
    }
}
