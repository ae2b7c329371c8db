//! Reads sessions of opencode, as `opencode export` prints them, and the events that
//! `opencode run --format json` prints. The program writes JSON with indentation, which is removed.

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields};
use crate::{Format, ImportResult, Result, images, reader};

/// The fields of a message or part that give its type and its position in the session.
const POSITION_KEYS: [&str; 6] = ["type", "role", "id", "sessionID", "messageID", "parentID"];

/// The type under which the report counts copies of an output that the program displays.
const DISPLAY: &str = "display";

pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    let looked_for = "an object with \"info\" and \"messages\", or lines with a \"sessionID\"";
    reader::import_lines(Format::Opencode, looked_for, bytes, |_| line)
}

/// Returns whether an object is a session or an event.
pub(crate) fn is_of(fields: &Fields<'_>) -> bool {
    let has = |key: &str| fields.get(key).is_some();
    let is_message = |value: &&RawValue| {
        Fields::read(value).is_some_and(|of| of.get("info").is_some() && of.get("parts").is_some())
    };
    let messages = fields.get("messages").and_then(raw_json::array);
    let is_session =
        has("info") && messages.is_some_and(|of| of.is_empty() || of.iter().any(is_message));
    is_session || has("sessionID") && has("type")
}

fn line(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value).filter(is_of) else {
        builder.push_detached("line", value.get());
        return false;
    };
    if let Some(part) = fields.get("part") {
        // The events are about the model only.
        message(builder, Role::Assistant, &[part]);
    } else if let Some(messages) = fields.take("messages").and_then(raw_json::array) {
        if let Some(rest) = rest(&mut fields) {
            builder.push_record("session", &rest);
        }
        for value in messages {
            builder.move_to(value.get());
            session_message(builder, value);
        }
    } else {
        let kind = fields.string("type").unwrap_or_else(|| "line".to_owned());
        builder.push_record(&kind, &raw_json::compact(value.get()));
    }
    true
}

fn session_message(builder: &mut BlockBuilder, value: &RawValue) {
    let fields = Fields::read(value).unwrap_or_default();
    let mut info = fields.get("info").and_then(Fields::read).unwrap_or_default();
    let role = match info.string("role").as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return builder.push_detached("message", value.get()),
    };
    let parts = fields.get("parts").and_then(raw_json::array).unwrap_or_default();
    if parts.is_empty() {
        return builder.push_detached("message", value.get());
    }
    message(builder, role, &parts);
    if let Some(notes) = rest(&mut info)
        && !builder.try_tag_item_fields(&notes)
    {
        builder.skip("notes");
    }
}

/// A call with the state that has its result.
struct Call<'a> {
    id: String,
    state: Fields<'a>,
}

/// Reads the parts of a message. The results of its calls follow as a message of their own.
fn message(builder: &mut BlockBuilder, role: Role, parts: &[&RawValue]) {
    let mut calls = Vec::new();
    let mut is_open = false;
    for value in parts {
        let mut fields = Fields::read(value).unwrap_or_default();
        let kind = fields.string("type").unwrap_or_else(|| "part".to_owned());
        // The program notes the beginning and end of each step, and its changes.
        if matches!(kind.as_str(), "step-start" | "step-finish" | "snapshot" | "patch") {
            builder.push_record(&kind, &raw_json::compact(value.get()));
            continue;
        }
        if !matches!(kind.as_str(), "text" | "reasoning" | "file" | "tool") {
            builder.push_detached(&kind, &raw_json::compact(value.get()));
            continue;
        }
        // Older versions write several steps as one message.
        if kind != "tool" && !calls.is_empty() {
            results(builder, &mut calls);
            is_open = false;
        }
        if !std::mem::replace(&mut is_open, true) {
            builder.begin_message(role);
        }
        let is_read = match kind.as_str() {
            "text" => text(builder, &mut fields),
            "file" => image(builder, &mut fields),
            "tool" => tool(builder, &mut fields, &mut calls),
            _ => false,
        };
        if !is_read {
            builder.push_extension(&kind, &raw_json::compact(value.get()));
        }
    }
    results(builder, &mut calls);
}

/// Returns the remaining fields of a message or part, other than its position.
fn rest(fields: &mut Fields<'_>) -> Option<String> {
    for key in POSITION_KEYS {
        fields.take(key);
    }
    fields.rest_json().map(|json| raw_json::compact(&json))
}

fn text(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let Some(text) = builder.take_text(fields, "text") else { return false };
    if !text.is_empty() {
        builder.push_text(&text);
        builder.tag_part_fields(rest(fields).as_deref());
    }
    true
}

/// Reads a file that is an image with its data. Returns `false` for any other file.
fn image(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let image = fields.string("url").and_then(|url| images::data_uri(&url));
    let Some((media, data)) = image else { return false };
    fields.take("url");
    fields.take("mime");
    let name = fields.take_string("filename").unwrap_or_default();
    builder.push_image(media, &name, data);
    builder.tag_part_fields(rest(fields).as_deref());
    true
}

fn tool<'a>(
    builder: &mut BlockBuilder,
    fields: &mut Fields<'a>,
    calls: &mut Vec<Call<'a>>,
) -> bool {
    let state = fields.get("state").and_then(Fields::read);
    let (Some(mut state), Some(name), Some(id)) =
        (state, fields.take_string("tool"), fields.take_string("callID"))
    else {
        return false;
    };
    fields.take("state");
    let input = raw_json::compact(state.take("input").map_or("{}", RawValue::get));
    let id = builder.push_call(&id, &name, &input);
    builder.tag_part_fields(rest(fields).as_deref());
    calls.push(Call { id, state });
    true
}

/// Adds the results of these calls as a message. A call that did not end has no result.
fn results(builder: &mut BlockBuilder, calls: &mut Vec<Call<'_>>) {
    let is_ended = |call: &Call<'_>| {
        matches!(call.state.string("status").as_deref(), Some("completed" | "error"))
    };
    let ended: Vec<_> = std::mem::take(calls).into_iter().filter(is_ended).collect();
    if !ended.is_empty() {
        builder.begin_message(Role::Tool);
    }
    for Call { id, mut state } in ended {
        let failed = state.take_string("status").as_deref() == Some("error");
        let (status, key) = if failed { (Status::Error, "error") } else { (Status::Ok, "output") };
        let text = builder.take_text(&mut state, key).unwrap_or_default();
        builder.begin_result(&id, None);
        builder.push_result_text(&id, None, status, &text);
        for value in state.take("attachments").and_then(raw_json::array).unwrap_or_default() {
            if !image(builder, &mut Fields::read(value).unwrap_or_default()) {
                builder.push_extension("file", value.get());
            }
            builder.tag_as_result_of(&id);
        }
        if state.take("metadata").is_some() {
            builder.skip(DISPLAY);
        }
        builder.tag_result_fields(rest(&mut state).as_deref());
    }
}
