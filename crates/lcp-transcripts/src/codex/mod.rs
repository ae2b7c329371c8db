//! Reads rollouts of Codex, which are JSON lines that contain items of responses, and the output of
//! `codex exec --json`.

mod events;
mod stream;

use std::collections::HashSet;

use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::openai::responses;
use crate::raw_json::Fields;
use crate::{Format, ImportResult, Result, reader};

/// The types of lines that have a payload.
const LINES: [&str; 5] =
    ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

/// The types of items that old rollouts have directly on a line, without a payload.
#[rustfmt::skip]
const ITEMS: [&str; 8] = [
    "message", "reasoning", "function_call", "function_call_output", "custom_tool_call",
    "custom_tool_call_output", "local_shell_call", "web_search_call",
];

/// The types of lines that hold a part of the conversation. All other lines are records.
const CONTENT: [&str; 2] = ["response_item", "compacted"];

pub(crate) fn import(bytes: &[u8]) -> Result<ImportResult> {
    let looked_for = "lines with a \"type\" such as \"response_item\" and a \"payload\", or such as \
                      \"item.completed\" and an \"item\"";
    reader::import_lines(Format::Codex, looked_for, bytes, |lines| {
        let mut items = events::ItemTexts::from_lines(lines);
        let mut started = HashSet::new();
        move |builder, value: &RawValue| match Fields::read(value).filter(is_event) {
            Some(event) => stream::event(&mut started, builder, &event, value),
            None => line(&mut items, builder, value),
        }
    })
}

/// Returns whether a line is an event of `codex exec --json`.
pub(crate) fn is_event(fields: &Fields<'_>) -> bool {
    fields.string("type").is_some_and(|kind| stream::EVENTS.contains(&kind.as_str()))
}

/// Returns whether a line is part of a rollout, with or without a payload.
pub(crate) fn is_line(fields: &Fields<'_>) -> bool {
    let Some(kind) = fields.string("type") else { return false };
    if fields.get("payload").is_some() {
        return LINES.contains(&kind.as_str());
    }
    ITEMS.contains(&kind.as_str())
}

fn line(items: &mut events::ItemTexts, builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(fields) = Fields::read(value) else {
        builder.push_detached("line", value.get());
        return false;
    };
    let kind = fields.string("type");
    let payload = fields.get("payload");
    match (kind.as_deref(), payload) {
        (Some("response_item"), Some(item)) if responses::item(builder, item) => {}
        (Some("event_msg"), Some(event)) => {
            let event = Fields::read(event).unwrap_or_default();
            let name = event.string("type").unwrap_or_default();
            if !items.event(builder, &name, event) {
                let type_name = format!("event_msg.{name}");
                if events::has_text(&name) {
                    builder.push_detached(&type_name, value.get());
                } else {
                    builder.push_record(&type_name, value.get());
                }
            }
        }
        (Some(kind), None) if ITEMS.contains(&kind) && responses::item(builder, value) => {}
        (Some(kind), _) if CONTENT.contains(&kind) => builder.push_detached(kind, value.get()),
        (Some(kind), _) => builder.push_record(kind, value.get()),
        // The first line of an old rollout and its notes about the state have no type.
        (None, _) => builder.push_record("state", value.get()),
    }
    is_line(&fields)
}
