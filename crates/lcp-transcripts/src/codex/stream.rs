//! Reads the events that `codex exec --json` prints. They describe the work of the agent in terms of
//! its own and do not contain the prompt.

use std::collections::HashSet;

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::mcp;
use crate::raw_json::{Fields, Object};

/// The types of events.
#[rustfmt::skip]
pub(super) const EVENTS: [&str; 7] = [
    "thread.started", "turn.started", "turn.completed", "turn.failed", "item.started",
    "item.updated", "item.completed",
];

/// Reads one event and returns `true`. `started` has the ids of the calls without a result so far.
pub(super) fn event(
    started: &mut HashSet<String>,
    builder: &mut BlockBuilder,
    event: &Fields<'_>,
    value: &RawValue,
) -> bool {
    let kind = event.string("type").unwrap_or_default();
    let item = event.get("item").and_then(Fields::read);
    let (Some(mut item), true) = (item, kind.starts_with("item.")) else {
        builder.push_record(&kind, value.get());
        return true;
    };
    let id = item.take_string("id").unwrap_or_default();
    let of_item = item.take_string("type").unwrap_or_default();
    let is_end = kind == "item.completed";
    match (call(&of_item, &mut item), of_item.as_str()) {
        (Some((name, arguments)), _) => {
            // Some calls have no event for their start.
            if !started.contains(&id) && kind != "item.updated" {
                builder.begin_message(Role::Assistant);
                builder.push_call(&id, &name, &arguments);
                started.insert(id.clone());
            }
            if is_end {
                started.remove(&id);
                result(builder, &id, item);
            }
        }
        // The last event of an item repeats the earlier ones.
        (None, _) if !is_end => builder.skip(&kind),
        (None, "agent_message") => {
            builder.begin_message(Role::Assistant);
            if let Some(text) = builder.take_text(&mut item, "text") {
                builder.push_text(&text);
            }
            builder.tag_item_fields(item.rest_json().as_deref());
        }
        (None, "error") => builder.push_detached("error", value.get()),
        (None, _) => {
            builder.begin_message(Role::Assistant);
            let json = event.get("item").map_or("{}", RawValue::get);
            builder.push_extension(&of_item, json);
        }
    }
    true
}

/// Takes the name and arguments of a call. `None` for items that are not calls.
fn call(kind: &str, item: &mut Fields<'_>) -> Option<(String, String)> {
    let key = match kind {
        "command_execution" => "command",
        "file_change" => "changes",
        "mcp_tool_call" => {
            let name = ["mcp".to_owned(), item.take_string("server")?, item.take_string("tool")?];
            let arguments = item.take("arguments").map_or("{}", RawValue::get);
            return Some((name.join("__"), arguments.to_owned()));
        }
        _ => return None,
    };
    let mut arguments = Object::default();
    arguments.raw(key, item.take(key)?.get());
    Some((kind.to_owned(), arguments.finish()))
}

fn result(builder: &mut BlockBuilder, id: &str, mut item: Fields<'_>) {
    let failed = matches!(item.string("status").as_deref(), Some("failed" | "declined"));
    let status = if failed { Status::Error } else { Status::Ok };
    builder.begin_message(Role::Tool);
    builder.begin_result(id, None);
    let error = item.get("error").and_then(Fields::read);
    let answer = item.get("result").and_then(Fields::read);
    if let Some(text) = builder.take_text(&mut item, "aggregated_output") {
        builder.push_result_text(id, None, status, &text);
    } else if let Some(text) = error.and_then(|mut error| builder.take_text(&mut error, "message"))
    {
        item.take("error");
        builder.push_result_text(id, None, status, &text);
    } else if let Some(answer) = answer {
        item.take("result");
        mcp::result_fields(builder, (id, None, status), answer);
    } else {
        builder.push_result_text(id, None, status, "");
    }
    // Notes of the program, which the model did not see.
    if let Some(notes) = item.rest_json() {
        builder.try_tag_item_fields(&notes);
    }
}
