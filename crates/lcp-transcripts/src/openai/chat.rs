//! Reads messages of the `OpenAI` chat completions API.

use lcp_types::Role;
use serde_json::value::RawValue;

use super::content;
use crate::Format;
use crate::annotation_keys;
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields};
use crate::reader::{Reader, rest_with};

pub(crate) const READER: Reader = Reader {
    format: Format::OpenAiChat,
    looked_for: "a list of messages, or an object with \"messages\" or \"choices\", or one message",
    message,
    envelope,
};

fn envelope(reader: &Reader, builder: &mut BlockBuilder, fields: Fields<'_>) -> bool {
    if fields.get("messages").is_some() {
        return reader.list_under("messages", "request", builder, fields);
    }
    if let Some(choices) = fields.get("choices").and_then(raw_json::array) {
        return response(builder, fields, &choices);
    }
    // A line of a batch file holds its request or response in a field.
    reader.inside(&["body", "response"], builder, &fields)
}

/// Reads a response. The first choice becomes the message, and the rest becomes extensions.
fn response(builder: &mut BlockBuilder, mut fields: Fields<'_>, choices: &[&RawValue]) -> bool {
    let Some((first, others)) = choices.split_first() else { return false };
    let Some(mut choice) = Fields::read(first) else { return false };
    let Some(value) = choice.take("message") else { return false };
    builder.move_to(value.get());
    if !message(builder, value) {
        return false;
    }
    for other in others {
        builder.push_detached("choice", other.get());
    }
    fields.take("choices");
    let mut rest = raw_json::Object::default();
    rest.all(fields.rest_json().as_deref());
    // The index of an only choice is redundant.
    if others.is_empty() {
        choice.take("index");
    }
    if let Some(choice) = choice.rest_json() {
        rest.raw("choices", &raw_json::list(&[choice]));
    }
    if let Some(rest) = rest.finish_some() {
        builder.push_detached("response", &rest);
    }
    true
}

fn message(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    let Some(role) = fields.take_string("role") else { return false };
    match role.as_str() {
        "tool" => {
            tool(builder, fields);
            return true;
        }
        "function" => {
            function(builder, fields);
            return true;
        }
        role if content::begin_message(builder, role) => {}
        _ => return false,
    }
    let has_content = fields.has("content");
    let content = fields.take("content");
    if let Some(value) = content {
        content::message(builder, value);
    }
    if role == "assistant" {
        calls(builder, &mut fields);
    }
    builder.push_message_fields(fields.rest_json().as_deref());
    if role != "assistant" {
        return true;
    }
    if !has_content {
        builder.tag_first(annotation_keys::CONTENT, "{}");
    } else if content.is_some_and(|content| content.get() == "\"\"") {
        builder.tag_first(annotation_keys::CONTENT, r#"{"content":""}"#);
    }
    true
}

fn calls(builder: &mut BlockBuilder, fields: &mut Fields<'_>) {
    for value in fields.get("tool_calls").and_then(raw_json::array).unwrap_or_default() {
        fields.take("tool_calls");
        if !call(builder, value) {
            builder.warn("cannot read a tool call; imported as an extension block".to_owned());
            builder.push_detached("tool_call", value.get());
        }
    }
    let Some(mut function) = fields.get("function_call").and_then(Fields::read) else { return };
    let Some(name) = function.take_string("name") else { return };
    fields.take("function_call");
    let arguments = content::take_arguments(builder, &mut function, "arguments");
    builder.push_call("", &name, &arguments);
    builder.tag(annotation_keys::CALL, annotation_keys::FUNCTION);
    builder.tag_part_fields(function.rest_json().as_deref());
}

/// Reads one call of a message. Returns `false` if it has no name or an unknown type.
fn call(builder: &mut BlockBuilder, value: &RawValue) -> bool {
    let Some(mut fields) = Fields::read(value) else { return false };
    let kind = fields.string("type").unwrap_or_else(|| "function".to_owned());
    let key = match kind.as_str() {
        "function" => "arguments",
        annotation_keys::CUSTOM => "input",
        _ => return false,
    };
    let Some(mut inner) = fields.get(&kind).and_then(Fields::read) else { return false };
    let Some(name) = inner.take_string("name") else { return false };
    fields.take("type");
    fields.take(&kind);
    let id = fields.take_string("id").unwrap_or_default();
    if id.is_empty() {
        builder.warn("tool call has no ID; assigned one".to_owned());
    }
    let arguments = content::take_arguments(builder, &mut inner, key);
    builder.push_call(&id, &name, &arguments);
    if kind == annotation_keys::CUSTOM {
        builder.tag(annotation_keys::CALL, annotation_keys::CUSTOM);
    }
    builder.tag_part_fields(rest_with(&fields, &kind, inner.rest_json()).as_deref());
    true
}

fn tool(builder: &mut BlockBuilder, mut fields: Fields<'_>) {
    builder.begin_message(Role::Tool);
    let id = fields.take_string("tool_call_id").unwrap_or_default();
    let name = fields.string("name");
    let id = if id.is_empty() {
        builder.warn("tool result has no ID; matched to the oldest open call".to_owned());
        builder.open_call(name.as_deref()).or_else(|| builder.open_call(None)).unwrap_or_default()
    } else {
        id
    };
    result(builder, &id, name.as_deref(), fields);
}

/// Reads the result of a function in the legacy syntax, which has no ids.
fn function(builder: &mut BlockBuilder, mut fields: Fields<'_>) {
    builder.begin_message(Role::Tool);
    let name = fields.take_string("name");
    let id = builder.open_call(name.as_deref()).unwrap_or_default();
    result(builder, &id, name.as_deref(), fields);
}

fn result(builder: &mut BlockBuilder, id: &str, name: Option<&str>, mut fields: Fields<'_>) {
    let content = fields.take("content");
    content::result(builder, id, name, content);
    builder.tag_result_fields(fields.rest_json().as_deref());
}
