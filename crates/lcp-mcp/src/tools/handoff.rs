//! The tool `handoff`, which prepares a hand-off of a conversation.

use lcp_continuity::DirectiveStyle;
use lcp_driver::OutputMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sessions::{SessionOptions, with_sessions};
use crate::choices::Named;
use crate::error::{ToolError, ToolResult};
use crate::state::ServerState;
use crate::tool::{self, SideEffect, ToolOutput};
use lcp_app::names::{STYLES, current, value_of};
use lcp_app::sessions::{HandoffCondition, HandoffSettings};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The id of the conversation.
    conversation: String,
    /// Hand over though it is not due.
    #[serde(default)]
    force: bool,
    /// At most once an epoch, and not where it would not help.
    #[serde(default)]
    if_due: bool,
    /// Tokens that the directive for the next session may have; a quarter of the window unless it
    /// is said.
    target: Option<u32>,
    /// Tokens that the summary in it may have.
    summary: Option<u32>,
    /// How the directive is worded: structured (the default), concise or narrative.
    style: Option<String>,
    /// The format of the directive: xml unless it is said.
    mode: Option<Named<OutputMode>>,
    /// The model that is talked to: it picks the encoding.
    model: Option<String>,
    /// What counts; o200k_base unless a model says otherwise.
    encoding: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The id of the conversation.
    conversation: String,
    /// The hand-off; none where it is not due.
    handoff: Option<PreparedHandoff>,
    /// What is to be done: none, warning or hand_off.
    decision: &'static str,
    /// The part of the window that is used, in percent.
    utilization_percent: u64,
    /// Why.
    reason: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PreparedHandoff {
    /// Its id, for `resume`.
    id: String,
    /// Whether it was made with this call.
    new: bool,
    /// Messages that it holds.
    messages: u64,
    /// Tokens before.
    tokens_before: u32,
    /// Tokens that the next session begins with.
    tokens_after: u32,
    /// What is kept word for word.
    anchors: usize,
    /// What is still to be done.
    pending_tasks: usize,
    /// What is odd.
    warnings: Vec<String>,
    /// It as a pack, for `render` and `expand`.
    pack: String,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "handoff";
    const TITLE: &'static str = "Hand a conversation over";
    const DESCRIPTION: &'static str = "Prepares a hand-off of a conversation to a fresh session, \
        if it is due or forced, and gives its id for `resume`.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        let when = match (input.force, input.if_due) {
            (true, true) => return Err(ToolError::usage("force or if_due: not both")),
            (true, false) => HandoffCondition::Always,
            (false, true) => HandoffCondition::Once,
            (false, false) => HandoffCondition::Due,
        };
        let settings = HandoffSettings {
            target: input.target,
            summary: input.summary,
            style: input.style.as_deref().map(style).transpose()?,
            mode: input.mode.map(|mode| mode.0),
            ..HandoffSettings::default()
        };
        let (encoding, model) = (input.encoding, input.model);
        let options = SessionOptions { encoding, model, handoff: settings, may_create: false };
        let prepared =
            with_sessions(state, options, |sessions| sessions.handoff(&input.conversation, when))?;
        let status = prepared.status;
        let handoff = prepared.handoff.map(|(handoff, pack)| {
            let title = format!("hand-off {}", handoff.handoff_id);
            let metadata = handoff.metadata;
            Ok::<_, ToolError>(PreparedHandoff {
                id: handoff.handoff_id,
                new: prepared.is_new,
                messages: metadata.messages,
                tokens_before: metadata.tokens_before,
                tokens_after: metadata.tokens_after,
                anchors: handoff.anchors.len(),
                pending_tasks: handoff.pending_tasks.len(),
                warnings: metadata.warnings,
                pack: state.packs.insert(title, pack)?.id,
            })
        });
        Ok(ToolOutput::from_facts(Facts {
            handoff: handoff.transpose()?,
            decision: status.verdict.name(),
            utilization_percent: status.percent(),
            reason: prepared.skip_reason.unwrap_or(status.decision.reason),
            conversation: status.conversation,
        }))
    }
}

fn style(name: &str) -> ToolResult<DirectiveStyle> {
    value_of(&STYLES, name).ok_or_else(|| {
        let known = current(&STYLES).join(", ");
        ToolError::usage(format!("{name:?} is no style")).with_hint(format!("it may be {known}"))
    })
}
