//! The tool `resume`, which resumes from a hand-off once.

use lcp_continuity::ResumedSession;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sessions::{SessionOptions, with_sessions};
use crate::error::{ToolError, ToolResult};
use crate::state::ServerState;
use crate::text::{check_length, truncate_list_to_bytes};
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::sessions::{WindowOptions, resume_text};
use lcp_app::special_tokens;

/// The maximum number of anchors in the result.
const ANCHORS_MAX: usize = 1_000;

/// The maximum size in bytes of all anchors in the result.
const ANCHORS_BYTES_MAX: usize = 1 << 20;

/// The advice if the text is too long for a result.
const LONG: &str = "outside of this tool run `lcp session resume`, which prints texts of any \
                    length; add --repeat if the hand-off was already resumed";

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the hand-off.
    handoff: String,
    /// The id of the new conversation. Default: derived from the id of the hand-off.
    conversation: Option<String>,
    /// The context window of the model in tokens. Default: that of the previous conversation.
    window: Option<u32>,
    /// The tokens of the window that are reserved for the output of the model. Default: as in the
    /// previous conversation.
    output_reserve: Option<u32>,
    /// The model of the new conversation. It selects the tokenizer.
    model: Option<String>,
    /// The tokenizer. Default: the one of `model` or of the server settings, else o200k_base.
    encoding: Option<String>,
    /// Return the answer of an earlier `resume` of this hand-off again, if it was lost. Resumes
    /// nothing.
    #[serde(default)]
    again: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The id of the new conversation.
    conversation: String,
    /// The id of the previous conversation.
    previous: String,
    /// The first text of the new session: the resume prompt, then the messages that were recorded
    /// after the hand-off.
    text: String,
    /// The number of tokens in the resume prompt.
    tokens: u32,
    /// The number of messages that were recorded after the hand-off.
    late_messages: usize,
    /// The anchors (verbatim quotations): the first 1,000, at most 1 MiB in total.
    anchors: Vec<String>,
    /// The number of further anchors.
    more_anchors: usize,
    /// The warnings.
    warnings: Vec<String>,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "resume";
    const TITLE: &'static str = "Resume from a hand-off";
    const DESCRIPTION: &'static str = "Starts a new conversation from a hand-off. Use it at the \
        beginning of the new session. Returns the resume prompt, which the model must read first. \
        A hand-off can be resumed only once; if the answer was lost, call it with `again`.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let window = WindowOptions { window: input.window, output_reserve: input.output_reserve };
        let options = window.to_resume_options(input.conversation)?;
        let is_named = options.conversation_id.is_some();
        if input.again && (is_named || input.window.is_some() || input.output_reserve.is_some()) {
            let message =
                "`again` cannot be used with `conversation`, `window` or `output_reserve`";
            return Err(ToolError::usage(message));
        }
        let session = SessionOptions {
            encoding: input.encoding,
            model: input.model,
            ..SessionOptions::default()
        };
        // Check the length before the hand-off is claimed. Otherwise a text that is too long would
        // be lost.
        let check = |session: &ResumedSession| check_length(&resume_text(session)?, LONG);
        let resumed = with_sessions(state, session, |sessions| {
            if input.again {
                sessions.resumed(&input.handoff)
            } else {
                sessions.resume(&input.handoff, &options, check)
            }
        });
        let resumed = resumed.map_err(with_hint)?;
        let text = resume_text(&resumed)?;
        // New messages may have been recorded since the check.
        check_length(&text, LONG)?;
        let warnings =
            resumed.directive.warnings.into_iter().chain(special_tokens::warning_about(&text));
        let anchors = resumed.restored_anchors.into_iter().map(|anchor| anchor.text).collect();
        let (anchors, more_anchors) =
            truncate_list_to_bytes(anchors, ANCHORS_MAX, ANCHORS_BYTES_MAX, String::len);
        Ok(ToolOutput {
            text: Some(text.clone()),
            facts: Facts {
                conversation: resumed.new_conversation_id,
                previous: resumed.previous_conversation_id,
                text,
                tokens: resumed.directive.tokens,
                late_messages: resumed.late_messages.len(),
                anchors,
                more_anchors,
                warnings: warnings.collect(),
            },
        })
    }
}

/// Adds the hint of errors for which the command has a hint with flags.
fn with_hint(error: ToolError) -> ToolError {
    match error.code {
        "already_resumed" => {
            error.with_hint("call `resume` with `again` to get the earlier result again")
        }
        _ if error.message.ends_with("[not_resumed]") => {
            error.with_hint("call `resume` without `again`")
        }
        _ => error,
    }
}
