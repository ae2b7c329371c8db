//! Reads the events that Gemini CLI prints with `--output-format stream-json`.

use std::collections::HashMap;

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields, Line};

/// The texts of messages by the address of their first event. A further event has no text.
pub(super) type Texts = HashMap<usize, Option<String>>;

/// Joins the texts of messages that the model wrote in pieces.
pub(super) fn texts(lines: &[Line<'_>]) -> Texts {
    let mut texts = Texts::new();
    // The address of the message that the next event may continue.
    let mut open = None;
    for value in lines.iter().filter_map(|line| line.value.as_ref().ok()) {
        let fields = Fields::read(value).unwrap_or_default();
        let is_message = fields.string("type").as_deref() == Some("message");
        let Some(text) = fields.string("content").filter(|_| is_message) else {
            open = None;
            continue;
        };
        let is_delta = fields.get("delta").and_then(raw_json::boolean) == Some(true);
        match open.and_then(|first| texts.get_mut(&first)) {
            Some(Some(whole)) if is_delta => {
                whole.push_str(&text);
                texts.insert(address(value), None);
            }
            _ => {
                texts.insert(address(value), Some(text));
                open = is_delta.then_some(address(value));
            }
        }
    }
    texts
}

fn address(value: &RawValue) -> usize {
    value.get().as_ptr() as usize
}

/// Returns whether a line is an event of an output.
pub(super) fn is_event(fields: &Fields<'_>) -> bool {
    let has = |key: &str| fields.get(key).is_some();
    has("timestamp")
        && match fields.string("type").as_deref() {
            Some("init") => has("session_id"),
            Some("message") => has("role"),
            Some("tool_use" | "tool_result") => has("tool_id"),
            Some("result") => has("stats"),
            _ => false,
        }
}

pub(super) fn event(
    texts: &Texts,
    builder: &mut BlockBuilder,
    mut fields: Fields<'_>,
    value: &RawValue,
) {
    let kind = fields.string("type").unwrap_or_default();
    match kind.as_str() {
        "message" => {
            let Some(Some(text)) = texts.get(&address(value)) else { return };
            let is_user = fields.string("role").as_deref() == Some("user");
            builder.begin_message(if is_user { Role::User } else { Role::Assistant });
            builder.push_text(text);
        }
        "tool_use" => {
            let [id, name] = ["tool_id", "tool_name"].map(|key| fields.string(key));
            let arguments = fields.get("parameters").map_or("{}", RawValue::get);
            builder.begin_message(Role::Assistant);
            builder.push_call(&id.unwrap_or_default(), &name.unwrap_or_default(), arguments);
        }
        "tool_result" => {
            let failed = fields.string("status").as_deref() == Some("error");
            let status = if failed { Status::Error } else { Status::Ok };
            let error = fields.get("error").and_then(Fields::read);
            // The message of an error is more precise than the output, which the user sees.
            let text = error.and_then(|error| error.string("message"));
            let text = text.or_else(|| builder.take_text(&mut fields, "output"));
            builder.begin_message(Role::Tool);
            let id = fields.string("tool_id").unwrap_or_default();
            builder.push_result(&id, None, status, &text.unwrap_or_default());
        }
        kind => builder.push_record(kind, value.get()),
    }
}
