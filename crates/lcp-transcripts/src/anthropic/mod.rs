//! Reads messages of Anthropic: lists, requests, responses and lines of batch files.

pub(crate) mod parts;

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::Format;
use crate::builder::BlockBuilder;
use crate::raw_json::Fields;
use crate::reader::{Reader, keep};

/// The fields of responses that a model does not need and a request cannot have.
#[rustfmt::skip]
pub(crate) const RESPONSE_KEYS: [&str; 9] = [
    "id", "type", "model", "usage", "stop_reason", "stop_sequence", "stop_details", "container",
    "context_management",
];

pub(crate) const READER: Reader = Reader {
    format: Format::Anthropic,
    looked_for: "a list of messages, or an object with \"messages\", or one message",
    message,
    envelope,
};

fn envelope(reader: &Reader, builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    if fields.get("messages").is_some() {
        if let Some(system) = fields.take("system") {
            builder.move_to(system.get());
            builder.begin_message(Role::System);
            parts::content(builder, system);
        }
        return reader.list_under("messages", "request", builder, fields);
    }
    if fields.string("type").as_deref() == Some("message") {
        return response(builder, fields);
    }
    // A line of a batch file holds its request or result in a field.
    reader.inside(&["params", "result", "message"], builder, &fields)
}

/// Reads one message of a list.
pub(crate) fn message(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    if !turn(builder, &mut fields) {
        return false;
    }
    builder.push_message_fields(fields.rest_json().as_deref());
    true
}

/// Reads a response. Its fields other than the message do not belong to the history.
fn response(builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    let is_one = turn(builder, &mut fields);
    if is_one {
        keep(builder, "response", &fields);
    }
    is_one
}

/// Reads the role and content of a message, and removes them from its fields.
pub(crate) fn turn(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let role = match fields.string("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => return false,
    };
    builder.begin_message(role);
    fields.take("role");
    if let Some(content) = fields.take("content") {
        parts::content(builder, content);
    }
    true
}
