//! Reads items of the `OpenAI` responses API.

use lcp_types::Role;
use serde_json::value::RawValue;

use super::content;
use crate::Format;
use crate::annotation_keys;
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields};
use crate::reader::{Reader, keep};

pub(crate) const READER: Reader = Reader {
    format: Format::OpenAiResponses,
    looked_for: "a list of items, or an object with \"input\" or \"output\", or one item",
    message: item,
    envelope,
};

fn envelope(reader: &Reader, builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    if fields.get("type").is_some() {
        return false;
    }
    let (input, output) = (fields.get("input"), fields.get("output").and_then(raw_json::array));
    if input.is_none() && output.is_none() {
        let data = reader.list_under("data", "list", builder, fields.clone());
        return data || reader.inside(&["body", "response"], builder, &fields);
    }
    if let Some(text) = builder.take_text(&mut fields, "instructions") {
        builder.begin_message(Role::System);
        builder.tag_message(annotation_keys::ROLE, annotation_keys::INSTRUCTIONS);
        builder.push_text(&text);
    }
    let mut any = false;
    if let Some(input) = input {
        if let Some(text) = builder.string(input) {
            builder.begin_message(Role::User);
            builder.push_text(&text);
            any = true;
        } else if let Some(items) = raw_json::array(input) {
            any = reader.messages(builder, &items);
        }
        if any {
            fields.take("input");
        }
    }
    let kind = if output.is_some() { "response" } else { "request" };
    if let Some(items) = output {
        let is_read = reader.messages(builder, &items);
        if is_read {
            fields.take("output");
        }
        any |= is_read;
    }
    if any {
        keep(builder, kind, &fields);
    }
    any
}

/// Reads one item. Returns `false` if the value is not an item. An item of an unknown type becomes
/// a message with an extension.
pub(crate) fn item(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    let kind = match fields.string("type") {
        Some(kind) => kind,
        None if fields.get("role").is_some() => "message".to_owned(),
        None => return false,
    };
    match kind.as_str() {
        "message" => message(builder, fields),
        "function_call" => call(builder, fields, "arguments", value),
        "custom_tool_call" => call(builder, fields, "input", value),
        "local_shell_call" => {
            builder.begin_message(Role::Assistant);
            let id = call_id(&mut fields);
            let action = fields.take("action").map_or("", RawValue::get);
            builder.push_call(&id, "local_shell", action);
            fields.take("type");
            builder.tag_part_fields(fields.rest_json().as_deref());
            true
        }
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            builder.begin_message(Role::Tool);
            let id = call_id(&mut fields);
            let output = fields.take("output");
            content::result(builder, &id, None, output);
            fields.take("type");
            builder.tag_result_fields(fields.rest_json().as_deref());
            true
        }
        _ => {
            builder.begin_message(Role::Assistant);
            builder.push_extension(&kind, value.get());
            true
        }
    }
}

/// Takes the id that a call and its output share. Old shell calls use the id of the item.
fn call_id(fields: &mut Fields<'_>) -> String {
    let id = fields.take_string("call_id").or_else(|| fields.take_string("id"));
    id.unwrap_or_default()
}

fn message(builder: &mut BlockBuilder, mut fields: Fields<'_>) -> bool {
    let role = fields.take_string("role");
    if !role.is_some_and(|role| content::begin_message(builder, &role)) {
        return false;
    }
    fields.take("type");
    if let Some(value) = fields.take("content") {
        content::message(builder, value);
    }
    // Items have fields such as an id and a status that a model does not need to read.
    builder.tag_item_fields(fields.rest_json().as_deref());
    true
}

fn call(builder: &mut BlockBuilder, mut fields: Fields<'_>, key: &str, value: &RawValue) -> bool {
    builder.begin_message(Role::Assistant);
    let Some(name) = fields.take_string("name") else {
        builder.warn("tool call has no name; imported as an extension block".to_owned());
        builder.push_extension("function_call", value.get());
        return true;
    };
    let id = call_id(&mut fields);
    if id.is_empty() {
        builder.warn("tool call has no ID; assigned one".to_owned());
    }
    let arguments = content::take_arguments(builder, &mut fields, key);
    builder.push_call(&id, &name, &arguments);
    if key == "input" {
        builder.tag(annotation_keys::CALL, annotation_keys::CUSTOM);
    }
    fields.take("type");
    builder.tag_part_fields(fields.rest_json().as_deref());
    true
}
