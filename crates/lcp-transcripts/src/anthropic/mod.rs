//! Messages of Anthropic: lists, requests, responses, lines of batches.

pub(crate) mod parts;

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::build::Builder;
use crate::json::{Fields, Source};
use crate::transcript::{Reader, keep};
use crate::{Format, ImportResult, Result};

/// What an answer has beside role and content: it says nothing to a model, and no request
/// may have it.
pub(crate) const OF_ANSWERS: [&str; 9] = [
    "id",
    "type",
    "model",
    "usage",
    "stop_reason",
    "stop_sequence",
    "stop_details",
    "container",
    "context_management",
];

const READER: Reader = Reader {
    format: Format::Anthropic,
    looked_for: "a list of messages, or an object with \"messages\", or one message",
    message,
    envelope,
};

/// Imports messages of Anthropic.
pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    READER.import(bytes)
}

fn envelope(
    reader: &Reader,
    builder: &mut Builder,
    source: &Source<'_>,
    mut fields: Fields<'_>,
) -> bool {
    if fields.get("messages").is_some() {
        if let Some(system) = fields.take("system") {
            builder.at_line(source.line(system.get()));
            builder.message(Role::System);
            parts::content(builder, system);
        }
        return reader.list_under("messages", "request", builder, source, fields);
    }
    if fields.string("type").as_deref() == Some("message") {
        return response(builder, fields);
    }
    // Lines of batches: requests, then results.
    reader.inside(&["params", "result", "message"], builder, source, &fields)
}

/// One message of a list.
pub(crate) fn message(builder: &mut Builder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    if !turn(builder, &mut fields) {
        return false;
    }
    builder.message_fields(fields.rest_json().as_deref());
    true
}

/// An answer of the model; what it has beside the message is none of the history's.
fn response(builder: &mut Builder, mut fields: Fields<'_>) -> bool {
    let is_one = turn(builder, &mut fields);
    if is_one {
        keep(builder, "response", &fields);
    }
    is_one
}

/// Role and content of a message, which are then taken out of its fields.
pub(crate) fn turn(builder: &mut Builder, fields: &mut Fields<'_>) -> bool {
    let role = match fields.string("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => return false,
    };
    builder.message(role);
    fields.take("role");
    if let Some(content) = fields.take("content") {
        parts::content(builder, content);
    }
    true
}
