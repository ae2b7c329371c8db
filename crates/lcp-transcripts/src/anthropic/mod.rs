//! Messages of Anthropic: lists, requests, responses, lines of batches.

pub(crate) mod parts;

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::Format;
use crate::builder::BlockBuilder;
use crate::raw_json::Fields;
use crate::reader::{Reader, keep};

/// Fields of answers that say nothing to a model and that no request may have.
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
    // Lines of batches: requests, then results.
    reader.inside(&["params", "result", "message"], builder, &fields)
}

/// One message of a list.
pub(crate) fn message(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    if !turn(builder, &mut fields) {
        return false;
    }
    builder.push_message_fields(fields.rest_json().as_deref());
    true
}

/// An answer of the model; what it has beside the message is none of the history's.
fn response(builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    let is_one = turn(builder, &mut fields);
    if is_one {
        keep(builder, "response", &fields);
    }
    is_one
}

/// Role and content of a message, which are then taken out of its fields.
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
