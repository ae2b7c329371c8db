//! Turns: the messages in which somebody speaks.

use std::borrow::Cow;

use lcp_types::{BlockContent, Role};

use crate::model::{Message, Recorded};

/// What the user or the model says with this message; `None` for calls, results,
/// system turns, blocks that are no turns, and turns without text.
pub(crate) fn said(message: &Message) -> Option<(Role, Cow<'_, str>)> {
    let BlockContent::Conversation(turn) = &message.block.content else { return None };
    let speaks = matches!(turn.role, Role::User | Role::Assistant)
        && turn.tool_call_id.is_none()
        && !message.is_result();
    let text = speaks.then(|| message.text())?;
    (!text.trim().is_empty()).then_some((turn.role, text))
}

/// Whether the message calls a tool.
pub(crate) fn is_call(message: &Message) -> bool {
    message.tool_call_id().is_some() && !message.is_result()
}

/// Whether what follows the message at `at` is a call: it then only says what the
/// call is for.
pub(crate) fn is_before_call(messages: &[Recorded], at: usize) -> bool {
    messages.get(at + 1).is_some_and(|next| is_call(&next.message))
}
