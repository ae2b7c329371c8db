//! `session show`: one conversation with its hand-offs and messages, or one hand-off.

use lcp_continuity::Message;
use lcp_continuity::store::{
    ConversationRecord, HandoffRecord, HandoffState, Store, StoredMessage,
};
use lcp_driver::group_thousands;
use serde_json::{Value, json};

use super::list::{self, second};
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{Record, failed, find_record, for_each_message};

/// Hand-offs of a conversation that are told of, the newest.
const HANDOFFS_MAX: u64 = 1_000;

/// Characters of a message that are shown.
const LINE_CHARS: usize = 72;

pub(super) fn run(config: &Config, store: &dyn Store, id: &str, as_json: bool) -> Result {
    let text = match find_record(store, id)? {
        Record::Conversation(record) => conversation(config, store, &record, as_json)?,
        Record::Handoff(handoff) if as_json => {
            let mut json = json!({ "schema": "lcp.handoff-record.v1" });
            merge(&mut json, handoff_json(&handoff));
            json["pack_bytes"] = handoff.pack.len().into();
            files::json(&json)
        }
        Record::Handoff(handoff) => handoff_lines(&handoff),
    };
    files::print(&text)
}

fn conversation(
    config: &Config,
    store: &dyn Store,
    record: &ConversationRecord,
    as_json: bool,
) -> Result<String> {
    let handoffs = store.handoffs(&record.id, HANDOFFS_MAX).map_err(failed)?;
    let mut lines = Vec::new();
    for_each_message(store, record, |stored| {
        lines.push(Line::from_stored(stored)?);
        Ok(())
    })?;
    if as_json {
        let mut json = json!({ "schema": "lcp.conversation.v1" });
        merge(&mut json, list::facts(record, config));
        json["handoffs"] = handoffs.iter().map(handoff_json).collect();
        json["recorded"] = lines.iter().map(Line::json).collect();
        return Ok(files::json(&json));
    }
    let mut text = format!(
        "{}: {}, window {}, epoch {}, begun {}, updated {}\n",
        record.id.escape_debug(),
        list::state(record),
        group_thousands(record.window_tokens.into()),
        record.epoch,
        second(record.created),
        second(record.last_active),
    );
    if let Some(parent) = &record.parent {
        let id = parent.conversation.escape_debug();
        text.extend([format!("shares {} messages of {id}\n", parent.messages)]);
    }
    if let Some(origin) = &record.origin {
        text.extend([format!("began with {}\n", origin.escape_debug())]);
    }
    text.extend(handoffs.iter().map(handoff_lines));
    text.extend(lines.iter().map(Line::text));
    Ok(text)
}

/// A message in one line.
struct Line {
    position: u64,
    epoch: u32,
    tokens: u32,
    role: String,
    says: String,
}

impl Line {
    fn from_stored(stored: &StoredMessage) -> Result<Self> {
        let message = stored.message().map_err(failed)?;
        let StoredMessage { position, epoch, tokens, .. } = *stored;
        let (role, says) = (message.role().to_string(), first_line(&message));
        Ok(Self { position, epoch, tokens, role, says })
    }

    fn text(&self) -> String {
        let Self { position, tokens, role, says, .. } = self;
        format!("{position:>6}  {tokens:>7}  {role:<9}  {says}\n")
    }

    fn json(&self) -> Value {
        json!({
            "index": self.position,
            "epoch": self.epoch,
            "role": self.role,
            "tokens": self.tokens,
            "first_line": self.says,
        })
    }
}

/// The first line that says something, cut and escaped.
fn first_line(message: &Message) -> String {
    let text = message.text();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut chars = line.chars();
    let shown: String = chars.by_ref().take(LINE_CHARS).collect();
    let rest = if chars.next().is_some() { "…" } else { "" };
    format!("{}{rest}", shown.escape_debug())
}

fn handoff_lines(record: &HandoffRecord) -> String {
    let id = record.id.escape_debug();
    let (created, expires) = (second(record.created), second(record.expires));
    let conversation = record.conversation.escape_debug();
    format!(
        "hand-off {id} of {conversation}: {}; {} messages, epoch {}, {created}, until {expires}\n",
        state(&record.state),
        record.messages,
        record.epoch
    )
}

/// What became of a hand-off, in words.
fn state(state: &HandoffState) -> String {
    match state {
        HandoffState::Committed => "waits to be resumed".to_owned(),
        HandoffState::Claimed { by, until } => {
            format!("claimed by {} until {}", by.escape_debug(), second(*until))
        }
        HandoffState::Resumed { into } => format!("resumed as {}", into.escape_debug()),
        HandoffState::Superseded { by } => format!("superseded by {}", by.escape_debug()),
        HandoffState::Expired => "expired".to_owned(),
    }
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
