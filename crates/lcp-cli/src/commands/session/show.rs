//! The command `session show`: prints a conversation with its hand-offs and messages, or a
//! hand-off.

use lcp_continuity::store::{ConversationRecord, HandoffRecord, HandoffState, Store};
use lcp_driver::group_thousands;

use super::list::{self, second};
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{
    ConversationDetails, MessageSummary, Record, find_record, handoff_record_json,
};

pub(super) fn run(config: &Config, store: &dyn Store, id: &str, as_json: bool) -> Result {
    let text = match find_record(store, id)? {
        Record::Conversation(record) => conversation(config, store, record, as_json)?,
        Record::Handoff(handoff) if as_json => files::json(&handoff_record_json(&handoff)),
        Record::Handoff(handoff) => handoff_lines(&handoff),
    };
    files::print(&text)
}

fn conversation(
    config: &Config,
    store: &dyn Store,
    record: ConversationRecord,
    as_json: bool,
) -> Result<String> {
    let details = ConversationDetails::read(store, record)?;
    if as_json {
        return Ok(files::json(&details.to_json(config)));
    }
    let ConversationDetails { record, handoffs, messages } = &details;
    let mut text = format!(
        "{}: {}, window {}, epoch {}, created {}, updated {}\n",
        record.id.escape_debug(),
        list::state(record),
        group_thousands(record.window_tokens.into()),
        record.epoch,
        second(record.created),
        second(record.last_active),
    );
    if let Some(parent) = &record.parent {
        let id = parent.conversation.escape_debug();
        text.extend([format!(
            "shares {} of {id}\n",
            lcp_driver::plural(parent.messages, "message")
        )]);
    }
    if let Some(origin) = &record.origin {
        text.extend([format!("resumed from {}\n", origin.escape_debug())]);
    }
    text.extend(handoffs.iter().map(handoff_lines));
    text.extend(messages.iter().map(message_line));
    Ok(text)
}

fn message_line(message: &MessageSummary) -> String {
    let MessageSummary { position, tokens, role, first_line, .. } = message;
    format!("{position:>6}  {tokens:>7}  {role:<9}  {first_line}\n")
}

fn handoff_lines(record: &HandoffRecord) -> String {
    let id = record.id.escape_debug();
    let (created, expires) = (second(record.created), second(record.expires));
    let conversation = record.conversation.escape_debug();
    format!(
        "hand-off {id} of {conversation}: {}; {}, epoch {}, created {created}, expires {expires}\n",
        state(&record.state),
        lcp_driver::plural(record.messages, "message"),
        record.epoch
    )
}

/// Returns the state of a hand-off in words.
fn state(state: &HandoffState) -> String {
    match state {
        HandoffState::Committed => "waiting to be resumed".to_owned(),
        HandoffState::Claimed { by, until } => {
            format!("claimed by {} until {}", by.escape_debug(), second(*until))
        }
        HandoffState::Resumed { into } => format!("resumed as {}", into.escape_debug()),
        HandoffState::Superseded { by } => format!("superseded by {}", by.escape_debug()),
        HandoffState::Expired => "expired".to_owned(),
    }
}
