//! JSON of store records, and the details of a conversation.

use lcp_continuity::Message;
use lcp_continuity::store::{
    ConversationRecord, ExpiryStats, HandoffRecord, HandoffState, Store, StoredMessage,
};
use serde_json::{Value, json};

use super::failed;
use super::records::{expiry, for_each_message, holder};
use crate::config::Config;
use crate::error::Result;

/// The maximum number of hand-offs in [`ConversationDetails`].
const HANDOFFS_MAX: u64 = 1_000;

/// The maximum number of characters in the first line of a message.
const LINE_CHARS: usize = 72;

/// A conversation with its newest hand-offs and a line for each message.
#[derive(Debug)]
pub struct ConversationDetails {
    /// The conversation.
    pub record: ConversationRecord,
    /// The newest hand-offs.
    pub handoffs: Vec<HandoffRecord>,
    /// The messages, in order.
    pub messages: Vec<MessageSummary>,
}

/// A summary of a message in one line.
#[derive(Debug)]
pub struct MessageSummary {
    /// Its index in the conversation.
    pub position: u64,
    /// Its epoch.
    pub epoch: u32,
    /// Its tokens.
    pub tokens: u32,
    /// The name of its role.
    pub role: String,
    /// Its first line that is not blank, shortened and escaped.
    pub first_line: String,
}

impl ConversationDetails {
    /// Reads the hand-offs and messages of a conversation.
    pub fn read(store: &dyn Store, record: ConversationRecord) -> Result<Self> {
        let handoffs = store.handoffs(&record.id, HANDOFFS_MAX).map_err(failed)?;
        let mut messages = Vec::new();
        for_each_message(store, &record, |stored| {
            messages.push(MessageSummary::from_stored(stored)?);
            Ok(())
        })?;
        Ok(Self { record, handoffs, messages })
    }

    /// Returns the details as JSON (`lcp.conversation.v1`).
    pub fn to_json(&self, config: &Config) -> Value {
        let mut json = json!({ "schema": "lcp.conversation.v1" });
        merge(&mut json, conversation_json(&self.record, config));
        json["handoffs"] = self.handoffs.iter().map(handoff_json).collect();
        json["recorded"] = self.messages.iter().map(MessageSummary::to_json).collect();
        json
    }
}

impl MessageSummary {
    fn from_stored(stored: &StoredMessage) -> Result<Self> {
        let message = stored.message().map_err(failed)?;
        let StoredMessage { position, epoch, tokens, .. } = *stored;
        let (role, first_line) = (message.role().to_string(), first_line(&message));
        Ok(Self { position, epoch, tokens, role, first_line })
    }

    fn to_json(&self) -> Value {
        json!({
            "index": self.position,
            "epoch": self.epoch,
            "role": self.role,
            "tokens": self.tokens,
            "first_line": self.first_line,
        })
    }
}

/// Returns the first line that is not blank, shortened and escaped.
fn first_line(message: &Message) -> String {
    let text = message.text();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut chars = line.chars();
    let shown: String = chars.by_ref().take(LINE_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    format!("{}{rest}", shown.escape_debug())
}

/// Returns conversations of a store as JSON (`lcp.store.v1`).
pub fn store_json(records: &[ConversationRecord], config: &Config) -> Value {
    let conversations: Vec<_> = records.iter().map(|it| conversation_json(it, config)).collect();
    json!({ "schema": "lcp.store.v1", "conversations": conversations })
}

/// Returns a hand-off as JSON (`lcp.handoff-record.v1`).
pub fn handoff_record_json(handoff: &HandoffRecord) -> Value {
    let mut json = json!({ "schema": "lcp.handoff-record.v1" });
    merge(&mut json, handoff_json(handoff));
    json["pack_bytes"] = handoff.pack.len().into();
    json
}

/// Returns the counts of dropped records as JSON (`lcp.expired.v1`).
pub fn expired_json(expired: &ExpiryStats) -> Value {
    json!({
        "schema": "lcp.expired.v1",
        "conversations": expired.conversations,
        "handoffs": expired.handoffs,
        "bodies": expired.bodies,
    })
}

/// Returns a conversation as JSON.
fn conversation_json(record: &ConversationRecord, config: &Config) -> Value {
    let parent = record.parent.as_ref();
    json!({
        "id": record.id,
        "messages": record.messages,
        "tokens": record.usage().map(|usage| usage.total_tokens),
        "window": record.window_tokens,
        "output_reserve": record.output_reserve_tokens,
        "epoch": record.epoch,
        "created": record.created.to_string(),
        "updated": record.last_active.to_string(),
        "expires": expiry(record, config).to_string(),
        "parent": parent.map(|it| json!({ "id": it.conversation, "messages": it.messages })),
        "origin": record.origin,
        "continued_as": record.continued_as,
        "holder": holder(record).map(|(holder, until)| {
            json!({ "name": holder, "until": until.to_string() })
        }),
    })
}

fn handoff_json(record: &HandoffRecord) -> Value {
    let (state, other) = match &record.state {
        HandoffState::Committed => ("committed", None),
        HandoffState::Claimed { by, .. } => ("claimed", Some(by)),
        HandoffState::Resumed { into } => ("resumed", Some(into)),
        HandoffState::Superseded { by } => ("superseded", Some(by)),
        HandoffState::Expired => ("expired", None),
    };
    json!({
        "id": record.id,
        "conversation": record.conversation,
        "epoch": record.epoch,
        "previous": record.previous,
        "messages": record.messages,
        "state": state,
        "by": other,
        "created": record.created.to_string(),
        "expires": record.expires.to_string(),
    })
}

/// Adds the members of another object.
fn merge(into: &mut Value, other: Value) {
    if let (Some(into), Value::Object(other)) = (into.as_object_mut(), other) {
        into.extend(other);
    }
}
