//! The tool `record_usage`, which records messages and the usage that a provider reported.

use std::path::Path;

use lcp_continuity::{Message, ReportedUsage};
use lcp_types::{Block, Role, Status, limits};
use schemars::JsonSchema;
use serde::Deserialize;

use super::sessions::{SessionOptions, UsageFacts, with_sessions};
use crate::error::{ToolError, ToolResult};
use crate::state::{ServerState, counting};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::sessions::{NewMessages, WindowOptions, input, reported_usage};

/// The default name of a tool.
const TOOL_NAME: &str = "tool";

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "tokens of the input are called so")]
pub(crate) struct Input {
    /// The id of the conversation; one that is not there begins.
    conversation: String,
    /// What was said, in order.
    #[serde(default)]
    messages: Vec<MessageInput>,
    /// Whether `messages` are the conversation from its beginning: then only what is beyond what
    /// was recorded is recorded. Else they come next.
    #[serde(default)]
    whole: bool,
    /// Instead of messages: the path of a pack or of a transcript below the roots, which has the
    /// conversation from its beginning.
    transcript: Option<String>,
    /// Tokens of the newest request, as the provider reported them.
    input_tokens: Option<u32>,
    /// How many of them came from a cache.
    cached_input_tokens: Option<u32>,
    /// Tokens of the answer to it.
    output_tokens: Option<u32>,
    /// Tokens of the model's window, for a conversation that begins.
    window: Option<u32>,
    /// Tokens of it that the model's output needs.
    output_reserve: Option<u32>,
    /// The model that is talked to: it picks window and encoding.
    model: Option<String>,
    /// What counts; o200k_base unless a model says otherwise.
    encoding: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct MessageInput {
    /// Who said it: system, user, assistant or tool.
    role: Speaker,
    /// What was said, or what a tool gave.
    text: String,
    /// The tool that gave it.
    tool_name: Option<String>,
    /// The call that it makes, or answers.
    tool_call_id: Option<String>,
    /// Whether the tool failed.
    #[serde(default)]
    is_error: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Speaker {
    System,
    User,
    Assistant,
    Tool,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "record_usage";
    const TITLE: &'static str = "Record what was said and used";
    const DESCRIPTION: &'static str = "Records messages of a conversation and what a provider \
        reported of the newest request, and tells how much of the window is used and whether it \
        should be handed over.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = UsageFacts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<UsageFacts>> {
        let reported = reported(&input)?;
        let messages = recorded_messages(state, &input)?;
        if matches!(messages, NewMessages::None) && reported.is_none() {
            let message = "there is nothing to record: give messages, a transcript or input_tokens";
            return Err(
                ToolError::usage(message).with_hint("should_handoff tells without recording")
            );
        }
        let Input { conversation, window, output_reserve, model, encoding, .. } = input;
        let flags = WindowOptions { window, output_reserve };
        let config = &state.config.settings;
        let counting = counting(encoding.clone(), model.clone())?;
        let (known, _) = counting.find_model(config, window.is_some())?;
        let window = flags.resolve(config, known.as_ref())?;
        let options =
            SessionOptions { encoding, model, may_create: true, ..SessionOptions::default() };
        let tracked = with_sessions(state, options, |sessions| {
            sessions.record_usage(&conversation, messages, reported, Some(&window))
        })?;
        Ok(ToolOutput::from_facts(tracked.into()))
    }
}

fn reported(input: &Input) -> ToolResult<Option<ReportedUsage>> {
    let Some(input_tokens) = input.input_tokens else {
        if input.cached_input_tokens.is_some() || input.output_tokens.is_some() {
            return Err(ToolError::usage("without input_tokens there are no other figures"));
        }
        return Ok(None);
    };
    let cached_input_tokens = input.cached_input_tokens.unwrap_or(0);
    let output_tokens = input.output_tokens.unwrap_or(0);
    match reported_usage(input_tokens, cached_input_tokens, output_tokens) {
        Some(reported) => Ok(Some(reported)),
        None => Err(ToolError::usage("cached_input_tokens are a part of input_tokens")),
    }
}

fn recorded_messages(state: &ServerState, input: &Input) -> ToolResult<NewMessages> {
    match (&input.transcript, input.messages.is_empty()) {
        (Some(_), false) => Err(ToolError::usage("messages or a transcript: not both")),
        (Some(path), true) => {
            let bytes = state.config.roots.read(path, limits::TOTAL_DECOMPRESSED_BYTES_MAX)?;
            let name = path.escape_debug().to_string();
            Ok(NewMessages::Transcript(input::messages_of(Path::new(&name), &bytes)?))
        }
        (None, true) => Ok(NewMessages::None),
        (None, false) => {
            let messages = input.messages.iter().map(message).collect();
            Ok(if input.whole {
                NewMessages::Transcript(messages)
            } else {
                NewMessages::Append(messages)
            })
        }
    }
}

fn message(input: &MessageInput) -> Message {
    let text = input.text.clone();
    let message = match input.role {
        Speaker::System => Message::turn(Role::System, text),
        Speaker::User => Message::user(text),
        Speaker::Assistant => match &input.tool_call_id {
            Some(id) => return Message::tool_call(id.clone(), text),
            None => Message::assistant(text),
        },
        Speaker::Tool => {
            let name = input.tool_name.clone().unwrap_or_else(|| TOOL_NAME.to_owned());
            let status = if input.is_error { Status::Error } else { Status::Ok };
            Message::new(Block::tool_result(name, status, text))
        }
    };
    match &input.tool_call_id {
        Some(id) if input.role == Speaker::Tool => message.answering(id.clone()),
        _ => message,
    }
}
