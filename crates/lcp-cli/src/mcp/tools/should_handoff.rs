//! `should_handoff`: how much of a window is used, and what is to be done.

use schemars::JsonSchema;
use serde::Deserialize;

use super::sittings::{Ways, work};
use super::tracked::Known;
use crate::mcp::desk::Desk;
use crate::mcp::fault::Outcome;
use crate::mcp::tool::{self, Answer, Changes};

pub(super) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The id of the conversation.
    conversation: String,
    /// The model that is talked to: it picks the encoding.
    model: Option<String>,
    /// What counts; o200k_base unless a model says otherwise.
    encoding: Option<String>,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "should_handoff";
    const TITLE: &'static str = "Ask whether to hand over";
    const DESCRIPTION: &'static str = "Tells how much of its window a conversation uses, how many \
        turns are left, and whether it should be handed over. Records nothing.";
    const CHANGES: Changes = Changes::Nothing;
    type Input = Input;
    type Facts = Known;

    fn call(desk: &Desk, input: Input) -> Outcome<Answer<Known>> {
        let Input { conversation, model, encoding } = input;
        let ways = Ways { encoding, model, ..Ways::default() };
        let tracked = work(desk, ways, |sessions| sessions.should_handoff(&conversation))?;
        Ok(Answer::facts(tracked.into()))
    }
}
