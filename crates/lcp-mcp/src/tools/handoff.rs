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
use lcp_app::sessions::{CompactOptions, ConversationStatus, HandoffCondition, HandoffSettings};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    conversation: String,
    /// Even if not due.
    #[serde(default)]
    force: bool,
    /// At most once.
    #[serde(default)]
    if_due: bool,
    /// Shorten this one instead.
    #[serde(default)]
    compact: bool,
    /// Tokens.
    target: Option<u32>,
    /// Tokens.
    summary: Option<u32>,
    /// structured, concise or narrative.
    style: Option<String>,
    mode: Option<Named<OutputMode>>,
    /// Default: true.
    session_state: Option<bool>,
    /// Default: true.
    pending_tasks: Option<bool>,
    #[schemars(skip)]
    encoding: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The id of the conversation.
    conversation: String,
    /// The hand-off; null if none is due.
    handoff: Option<PreparedHandoff>,
    /// The compaction, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    compaction: Option<Compacted>,
    /// The next step: none, warning or hand_off.
    decision: &'static str,
    /// The used part of the context window in percent.
    utilization_percent: u64,
    /// The reason for the next step, or for not creating a hand-off.
    reason: String,
}

#[derive(Debug, Serialize)]
struct PreparedHandoff {
    /// The id, for `resume`.
    id: String,
    /// `true` if this call created the hand-off.
    new: bool,
    /// The number of messages that it covers.
    messages: u64,
    /// The number of tokens before the hand-off.
    tokens_before: u32,
    /// The number of tokens that the next session starts with.
    tokens_after: u32,
    /// The number of anchors: quotations that the hand-off copies verbatim.
    anchors: usize,
    /// The number of pending tasks.
    pending_tasks: usize,
    /// The warnings.
    warnings: Vec<String>,
    /// The id of the hand-off as a pack, for `render` and `expand`.
    pack: String,
}

#[derive(Debug, Serialize)]
struct Compacted {
    /// The number of messages that the memory replaces.
    archived: u32,
    /// The number of tokens before the compaction.
    tokens_before: u32,
    /// The number of tokens after it.
    tokens_after: u32,
    /// The warnings.
    warnings: Vec<String>,
    /// The id of the messages that remain as a pack, for `render` and `expand`.
    pack: String,
}

impl tool::Tool for Tool {
    const NAME: &'static str = "handoff";
    const DESCRIPTION: &'static str =
        "Prepares a hand-off to a new session if it is due. Returns its id for `resume`.";
    const SIDE_EFFECT: SideEffect = SideEffect::Sessions;
    type Input = Input;
    type Facts = Facts;

    fn call(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
        if input.compact {
            return compact(state, input);
        }
        let when = match (input.force, input.if_due) {
            (true, true) => {
                let message = "`force` and `if_due` cannot be used together";
                return Err(ToolError::usage(message));
            }
            (true, false) => HandoffCondition::Always,
            (false, true) => HandoffCondition::Once,
            (false, false) => HandoffCondition::Due,
        };
        let settings = HandoffSettings {
            target: input.target,
            summary: input.summary,
            style: input.style.as_deref().map(style).transpose()?,
            mode: input.mode.map(|mode| mode.0),
            session_state: input.session_state,
            pending_tasks: input.pending_tasks,
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
        let facts = Facts { handoff: handoff.transpose()?, ..Facts::new(status) };
        Ok(ToolOutput::from_facts(facts.with_reason(prepared.skip_reason)))
    }
}

/// Compacts the conversation if it is due, or with `force` if it helps.
fn compact(state: &ServerState, input: Input) -> ToolResult<ToolOutput<Facts>> {
    let Input { conversation, force, encoding, model, .. } = input;
    let is_for_handoffs = input.if_due
        || [input.target, input.summary].iter().any(Option::is_some)
        || input.style.is_some()
        || input.mode.is_some()
        || [input.session_state, input.pending_tasks].iter().any(Option::is_some);
    if is_for_handoffs {
        let message = "`compact` can be used only with `force`, `model` and `encoding`";
        return Err(ToolError::usage(message));
    }
    let options = SessionOptions { encoding, model, ..SessionOptions::default() };
    let compaction = CompactOptions { only_if_due: !force, ..CompactOptions::default() };
    let outcome =
        with_sessions(state, options, |sessions| sessions.compact(&conversation, &compaction))?;
    let compaction = outcome.compaction.as_ref().map(|compaction| {
        let title = format!("compacted {conversation}");
        Ok::<_, ToolError>(Compacted {
            archived: compaction.archived.iter().map(|chunk| chunk.messages).sum(),
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
            warnings: outcome.warnings(),
            pack: state.packs.insert(title, outcome.to_pack()?)?.id,
        })
    });
    let compaction = compaction.transpose()?;
    let facts = Facts { compaction, ..Facts::new(outcome.status) };
    Ok(ToolOutput::from_facts(facts.with_reason(outcome.skip_reason)))
}

impl Facts {
    fn new(status: ConversationStatus) -> Self {
        Self {
            handoff: None,
            compaction: None,
            decision: status.verdict.name(),
            utilization_percent: status.percent(),
            reason: status.decision.reason,
            conversation: status.conversation,
        }
    }

    fn with_reason(self, skip_reason: Option<String>) -> Self {
        Self { reason: skip_reason.unwrap_or(self.reason), ..self }
    }
}

fn style(name: &str) -> ToolResult<DirectiveStyle> {
    value_of(&STYLES, name).ok_or_else(|| {
        let known = current(&STYLES).join(", ");
        ToolError::usage(format!("unknown style {name:?}")).with_hint(format!("use one of {known}"))
    })
}
