//! Reads the parts of contents of Gemini.

use lcp_types::Status;
use serde_json::value::RawValue;

use super::take;
use crate::builder::BlockBuilder;
use crate::raw_json::{self, Fields, Object};
use crate::reader::rest_with;
use crate::{annotation_keys, images};

/// The keys of parts that have no block type of their own, with their other spelling.
pub(crate) const RAW_KEYS: [(&str, &str); 6] = [
    ("inlineData", "inline_data"),
    ("fileData", "file_data"),
    ("executableCode", "executable_code"),
    ("codeExecutionResult", "code_execution_result"),
    ("toolCall", "tool_call"),
    ("toolResponse", "tool_response"),
];

/// The type name of the thoughts of a model.
pub(crate) const THOUGHT: &str = "thought";

/// Reads the parts of a content. A text and a single part are also accepted, as the SDKs do.
pub(crate) fn content(builder: &mut BlockBuilder, value: &RawValue) {
    match (builder.string(value), raw_json::array(value)) {
        (Some(text), _) => builder.push_text(&text),
        (None, Some(parts)) => parts.into_iter().for_each(|value| part(builder, value)),
        (None, None) => part(builder, value),
    }
}

pub(crate) fn part(builder: &mut BlockBuilder, value: &RawValue) {
    if let Some(text) = builder.string(value) {
        return builder.push_text(&text);
    }
    let Some(mut fields) = Fields::read(value) else {
        builder.warn("part is not an object; imported as an extension block".to_owned());
        return builder.push_detached("part", value.get());
    };
    let is_thought = fields.get(THOUGHT).and_then(raw_json::boolean) == Some(true);
    let is_read = !is_thought
        && (text(builder, &mut fields)
            || call(builder, &mut fields)
            || result(builder, &mut fields)
            || image(builder, &mut fields));
    if !is_read {
        builder.push_extension(if is_thought { THOUGHT } else { kind(&fields) }, value.get());
    }
}

/// Returns the type of a part, which is the key of its data.
fn kind(fields: &Fields<'_>) -> &'static str {
    let is_it =
        |(camel, snake): &&(&str, &str)| fields.get(camel).is_some() || fields.get(snake).is_some();
    RAW_KEYS.iter().find(is_it).map_or("part", |(camel, _)| camel)
}

/// Reads a text. An empty text with further fields, such as a signature, is not read.
fn text(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let Some(text) = builder.take_text(fields, "text") else { return false };
    let rest = fields.rest_json();
    if text.is_empty() {
        return rest.is_none();
    }
    builder.push_text(&text);
    builder.tag_part_fields(rest.as_deref());
    true
}

fn call(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let inner = fields.get("functionCall").or_else(|| fields.get("function_call"));
    let Some(mut inner) = inner.and_then(Fields::read) else { return false };
    let Some(name) = inner.take_string("name") else {
        builder.warn("function call has no name; imported as an extension block".to_owned());
        return false;
    };
    take(fields, "functionCall", "function_call");
    let id = inner.take_string("id").unwrap_or_default();
    let arguments = inner.take("args").map_or("{}", RawValue::get);
    builder.push_call(&id, &name, arguments);
    if id.is_empty() {
        builder.tag(annotation_keys::CALL, annotation_keys::WITHOUT_ID);
    }
    builder.tag_part_fields(rest_with(fields, "functionCall", inner.rest_json()).as_deref());
    true
}

/// Reads the result of a call. Its parts are images and files.
fn result(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let inner = fields.get("functionResponse").or_else(|| fields.get("function_response"));
    let Some(mut inner) = inner.and_then(Fields::read) else { return false };
    take(fields, "functionResponse", "function_response");
    let name = inner.take_string("name");
    let id = inner.take_string("id").or_else(|| builder.open_call(name.as_deref()));
    let id = id.unwrap_or_default();
    builder.begin_result(&id, name.as_deref());
    let parts = inner.take("parts").and_then(raw_json::array);
    response(builder, (&id, name.as_deref()), inner.take("response"));
    for value in parts.iter().flatten() {
        let mut part = Fields::read(value).unwrap_or_default();
        if !image(builder, &mut part) {
            builder.push_extension(kind(&part), value.get());
        }
        builder.tag_as_result_of(&id);
    }
    let mut rest = Object::default();
    // An empty list marks that the images are parts of the result.
    if parts.is_some() {
        rest.raw("parts", "[]");
    }
    rest.all(inner.rest_json().as_deref());
    builder.tag_result_fields(rest_with(fields, "functionResponse", rest.finish_some()).as_deref());
    true
}

/// Reads the response of a function: an object, most often with a single text.
pub(crate) fn response(
    builder: &mut BlockBuilder,
    (id, name): (&str, Option<&str>),
    value: Option<&RawValue>,
) {
    let fields = value.and_then(Fields::read).unwrap_or_default();
    let only = fields.only().and_then(|(key, value)| match key {
        "output" => Some((Status::Ok, builder.string(value)?)),
        "error" => Some((Status::Error, builder.string(value)?)),
        _ => None,
    });
    if let Some((status, text)) = only {
        return builder.push_result_text(id, name, status, &text);
    }
    let status = if fields.get("error").is_some() { Status::Error } else { Status::Ok };
    builder.push_result_text(id, name, status, value.map_or("{}", RawValue::get));
    builder.tag(annotation_keys::FORM, annotation_keys::OBJECT);
}

/// Reads an image whose data is in the part. Returns `false` for any other part.
fn image(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let inner = fields.get("inlineData").or_else(|| fields.get("inline_data"));
    let Some(mut inner) = inner.and_then(Fields::read) else { return false };
    let mime = take(&mut inner, "mimeType", "mime_type").and_then(raw_json::string);
    let media = mime.and_then(|mime| images::media_type(&mime));
    let data = inner.take_string("data").and_then(|data| images::decode(&data));
    let (Some(media), Some(data)) = (media, data) else { return false };
    take(fields, "inlineData", "inline_data");
    builder.push_image(media, "", data);
    builder.tag_part_fields(rest_with(fields, "inlineData", inner.rest_json()).as_deref());
    true
}
