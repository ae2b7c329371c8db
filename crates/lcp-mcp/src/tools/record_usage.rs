//! The tool `record_usage`, which records messages and the usage that a provider reported.

use std::path::Path;

use lcp_continuity::{Message, ReportedUsage};
use lcp_ingest::SecretPolicy;
use lcp_types::{Block, Role, Status, limits};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::sessions::{SessionOptions, UsageFacts, with_sessions};
use crate::error::{ToolError, ToolResult};
use crate::state::{ServerState, counting};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::Warnings;
use lcp_app::secrets::MessageSecrets;
use lcp_app::sessions::{NewMessages, WindowOptions, input, reported_usage};

/// The default name of a tool.
const TOOL_NAME: &str = "tool";

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "these are the names of JSON fields")]
pub(crate) struct Input {
    /// Known or new id.
    conversation: String,
    #[serde(default)]
    messages: Vec<MessageInput>,
    /// `messages` is the whole conversation.
    #[serde(default)]
    whole: bool,
    /// File, instead of `messages`.
    transcript: Option<String>,
    /// As the provider reports.
    input_tokens: Option<u32>,
    cached_input_tokens: Option<u32>,
    output_tokens: Option<u32>,
    /// Context window of the model.
    window: Option<u32>,
    output_reserve: Option<u32>,
    #[schemars(skip)]
    encoding: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
struct MessageInput {
    role: Speaker,
    text: Option<String>,
    /// String or text parts.
    content: Option<Value>,
    tool_name: Option<String>,
    tool_call_id: Option<String>,
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
    const DESCRIPTION: &'static str = "Records new messages and token usage of a conversation, after each turn. Returns whether a \
         hand-off is due.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = UsageFacts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<UsageFacts>> {
        let reported = reported(&input)?;
        let warnings = Warnings::default();
        let mut messages = recorded_messages(state, &input, &warnings)?;
        let secrets = match &mut messages {
            NewMessages::None => None,
            NewMessages::Append(messages) | NewMessages::Transcript(messages) => {
                let config = &state.config.settings;
                Some(MessageSecrets::apply(messages, SecretPolicy::Warn, config)?)
            }
        };
        if matches!(messages, NewMessages::None) && reported.is_none() {
            let hint = "pass `messages`, `transcript` or `input_tokens`, or call `should_handoff`, \
                        which records nothing";
            return Err(ToolError::usage("nothing to record").with_hint(hint));
        }
        let Input { conversation, window, output_reserve, model, encoding, .. } = input;
        let flags = WindowOptions { window, output_reserve };
        let config = &state.config.settings;
        let counting = counting(encoding.clone(), model.clone())?;
        let (known, _) = counting.find_model(config, window.is_some())?;
        let window = flags.resolve(config, known.as_ref())?;
        let options =
            SessionOptions { encoding, model, may_create: true, ..SessionOptions::default() };
        let mut tracked = with_sessions(state, options, |sessions| {
            sessions.record_usage(&conversation, messages, reported, Some(&window), true)
        })?;
        let recorded = tracked.recorded;
        tracked.warnings.splice(0..0, warnings.take());
        tracked.warnings.extend(secrets.and_then(|secrets| secrets.warning(recorded)));
        Ok(ToolOutput::from_facts(tracked.into()))
    }
}

fn reported(input: &Input) -> ToolResult<Option<ReportedUsage>> {
    let Some(input_tokens) = input.input_tokens else {
        if input.cached_input_tokens.is_some() || input.output_tokens.is_some() {
            let message = "`cached_input_tokens` and `output_tokens` require `input_tokens`";
            return Err(ToolError::usage(message));
        }
        return Ok(None);
    };
    let cached_input_tokens = input.cached_input_tokens.unwrap_or(0);
    let output_tokens = input.output_tokens.unwrap_or(0);
    match reported_usage(input_tokens, cached_input_tokens, output_tokens) {
        Some(reported) => Ok(Some(reported)),
        None => Err(ToolError::usage("`cached_input_tokens` must be at most `input_tokens`")),
    }
}

fn recorded_messages(
    state: &ServerState,
    input: &Input,
    warnings: &Warnings,
) -> ToolResult<NewMessages> {
    match (&input.transcript, input.messages.is_empty()) {
        (Some(_), false) => {
            Err(ToolError::usage("`messages` and `transcript` cannot be used together"))
        }
        (Some(path), true) => {
            let bytes = state.config.roots.read(path, limits::TOTAL_DECOMPRESSED_BYTES_MAX)?;
            let name = path.escape_debug().to_string();
            Ok(NewMessages::Transcript(input::messages_of(Path::new(&name), &bytes, warnings)?))
        }
        (None, true) => Ok(NewMessages::None),
        (None, false) => {
            let messages = input.messages.iter().enumerate();
            let messages = messages.map(|(at, of)| message(at, of)).collect::<ToolResult<_>>()?;
            Ok(if input.whole {
                NewMessages::Transcript(messages)
            } else {
                NewMessages::Append(messages)
            })
        }
    }
}

/// The types of parts that are texts, in the APIs of Anthropic and `OpenAI`.
const TEXT_TYPES: [&str; 3] = ["text", "input_text", "output_text"];

/// Returns the text of a message, from `text` or `content`.
fn text(at: usize, input: &MessageInput) -> ToolResult<String> {
    match (&input.text, &input.content) {
        (Some(text), None) | (None, Some(Value::String(text))) => Ok(text.clone()),
        (None, Some(Value::Array(parts))) => parts.iter().map(|part| part_text(at, part)).collect(),
        (None, Some(_)) => {
            let message = format!("`messages[{at}].content` is neither a text nor a list of parts");
            Err(ToolError::usage(message))
        }
        (Some(_), Some(_)) => {
            let message = format!("`messages[{at}]` has both `text` and `content`");
            Err(ToolError::usage(message).with_hint("pass only one of them"))
        }
        (None, None) => {
            let message = format!("`messages[{at}]` has neither `text` nor `content`");
            Err(ToolError::usage(message))
        }
    }
}

fn part_text(at: usize, part: &Value) -> ToolResult<String> {
    let kind = part["type"].as_str().unwrap_or("text");
    let text = part.as_str().or_else(|| part["text"].as_str());
    if let Some(text) = text.filter(|_| TEXT_TYPES.contains(&kind)) {
        return Ok(text.to_owned());
    }
    let kind = kind.escape_debug();
    let message = format!("`messages[{at}].content` has a part of type {kind}, not a text");
    let hint = "pass calls and results as messages with `tool_call_id`, and other parts with \
                `transcript`";
    Err(ToolError::usage(message).with_hint(hint))
}

fn message(at: usize, input: &MessageInput) -> ToolResult<Message> {
    let text = text(at, input)?;
    let message = match input.role {
        Speaker::System => Message::turn(Role::System, text),
        Speaker::User => Message::user(text),
        Speaker::Assistant => match &input.tool_call_id {
            Some(id) => return Ok(Message::tool_call(id.clone(), text)),
            None => Message::assistant(text),
        },
        Speaker::Tool => {
            let name = input.tool_name.clone().unwrap_or_else(|| TOOL_NAME.to_owned());
            let status = if input.is_error { Status::Error } else { Status::Ok };
            Message::new(Block::tool_result(name, status, text))
        }
    };
    Ok(match &input.tool_call_id {
        Some(id) if input.role == Speaker::Tool => message.answering(id.clone()),
        _ => message,
    })
}
