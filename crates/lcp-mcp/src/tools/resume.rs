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
const LONG: &str = "outside of this tool `lcp session resume` prints it, however long; with --repeat where it is resumed";

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the hand-off.
    handoff: String,
    /// The id of the conversation that begins; made of the hand-off's without it.
    conversation: Option<String>,
    /// Tokens of the window of the model that goes on; those of the one before without it.
    window: Option<u32>,
    /// Tokens of it that the model's output needs; likewise.
    output_reserve: Option<u32>,
    /// The model that goes on: it picks the encoding.
    model: Option<String>,
    /// What counts; o200k_base unless a model says otherwise.
    encoding: Option<String>,
    /// Give once more what a hand-off gave that was resumed, and resume nothing: where the answer
    /// was lost.
    #[serde(default)]
    again: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The id of the conversation that begins.
    conversation: String,
    /// The id of the one before.
    previous: String,
    /// What the session is to be told first: the directive, then the messages that came after the
    /// hand-off.
    text: String,
    /// Tokens of the directive.
    tokens: u32,
    /// How many messages came after the hand-off.
    late_messages: usize,
    /// What is kept word for word, the first 1,000 of at most 1 MiB.
    anchors: Vec<String>,
    /// How many more there are.
    more_anchors: usize,
    /// What is odd.
    warnings: Vec<String>,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "resume";
    const TITLE: &'static str = "Take up a hand-off";
    const DESCRIPTION: &'static str = "Takes up a hand-off and gives what the next session is to \
        be told first. Of all that try, one succeeds; where its answer was lost, `again` gives it \
        once more.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let window = WindowOptions { window: input.window, output_reserve: input.output_reserve };
        let options = window.to_resume_options(input.conversation)?;
        let is_named = options.conversation_id.is_some();
        if input.again && (is_named || input.window.is_some() || input.output_reserve.is_some()) {
            let message = "`again` resumes nothing, so it takes no conversation and no window";
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
        })?;
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
