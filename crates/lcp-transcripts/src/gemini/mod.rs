//! Reads contents of the Gemini API: lists, requests, responses and lines of batch files.
//!
//! Keys may be in camel case, as the API has them, or in snake case, as the SDK for Python writes
//! them.

pub(crate) mod parts;

use lcp_types::Role;
use serde_json::value::RawValue;

use crate::Format;
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields};
use crate::reader::{Reader, keep};

pub(crate) const READER: Reader = Reader {
    format: Format::Gemini,
    looked_for: "a list of contents, or an object with \"contents\" or \"candidates\", or one \
                 content",
    message,
    envelope,
};

/// Returns whether an object is a content of Gemini or contains some.
pub(crate) fn is_of(fields: &Fields<'_>) -> bool {
    let list = |key: &str| fields.get(key).and_then(raw_json::array);
    let is_content = |value: &RawValue| {
        Fields::read(value).is_some_and(|of| of.get("parts").and_then(raw_json::array).is_some())
    };
    let is_candidate = |value: &RawValue| {
        Fields::read(value).is_some_and(|of| of.get("content").is_some_and(is_content))
    };
    list("contents").is_some_and(|list| list.into_iter().any(is_content))
        || list("candidates").is_some_and(|list| list.into_iter().any(is_candidate))
        || fields.get("role").is_some() && list("parts").is_some()
}

fn envelope(reader: &Reader, builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    if fields.get("contents").is_some() {
        let system = take(&mut fields, "systemInstruction", "system_instruction");
        if let Some(system) = system {
            builder.move_to(system.get());
            builder.begin_message(Role::System);
            let of = Fields::read(system).unwrap_or_default();
            parts::content(builder, of.get("parts").unwrap_or(system));
        }
        return reader.list_under("contents", "request", builder, fields);
    }
    if let Some(candidates) = fields.get("candidates").and_then(raw_json::array) {
        return response(builder, fields, &candidates);
    }
    reader.inside(&["request", "response"], builder, &fields)
}

/// Reads a response. The first candidate becomes the message, and the rest becomes extensions.
fn response(builder: &mut BlockBuilder, mut fields: Fields<'_>, candidates: &[&RawValue]) -> bool {
    let Some((first, others)) = candidates.split_first() else { return false };
    let Some(mut candidate) = Fields::read(first) else { return false };
    let is_read = candidate.take("content").is_some_and(|content| message(builder, content));
    if is_read {
        for other in others {
            builder.push_detached("candidate", other.get());
        }
        fields.take("candidates");
        keep(builder, "candidate", &candidate);
        keep(builder, "response", &fields);
    }
    is_read
}

/// Reads one content.
fn message(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    let Some(parts) = fields.get("parts").filter(|parts| raw_json::array(parts).is_some()) else {
        return false;
    };
    let role = match fields.string("role").as_deref() {
        Some("user" | "function") | None => Role::User,
        Some("model") => Role::Assistant,
        Some("system") => Role::System,
        Some(_) => return false,
    };
    builder.begin_message(role);
    fields.take("role");
    fields.take("parts");
    parts::content(builder, parts);
    builder.push_message_fields(fields.rest_json().as_deref());
    true
}

/// Removes a key, which may be in camel case or in snake case, and returns its value.
pub(crate) fn take<'a>(fields: &mut Fields<'a>, camel: &str, snake: &str) -> Option<&'a RawValue> {
    fields.take(camel).or_else(|| fields.take(snake))
}
