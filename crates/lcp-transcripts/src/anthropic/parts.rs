//! Reads the parts of messages of Anthropic.

use lcp_types::Status;
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::images;
use crate::raw_json::{self, Fields};
use crate::reader::{self, rest_with};

/// Reads the content of a message: a text or a list of parts.
pub(crate) fn content(builder: &mut BlockBuilder, value: &RawValue) {
    reader::content(builder, value, part);
}

/// Reads one part of a message of the user, the assistant or the system.
pub(crate) fn part(builder: &mut BlockBuilder, value: &RawValue) {
    let Some(mut fields) = Fields::read(value) else {
        builder.warn("content part is not an object; imported as an extension block".to_owned());
        return builder.push_detached("part", value.get());
    };
    let Some(kind) = fields.string("type") else {
        builder.warn("content part has no type; imported as an extension block".to_owned());
        return builder.push_detached("part", value.get());
    };
    let is_read = match kind.as_str() {
        "text" => text(builder, &mut fields),
        "image" => image(builder, &kind, &mut fields),
        "tool_use" => call(builder, &mut fields),
        "tool_result" => result(builder, &mut fields),
        _ => false,
    };
    if !is_read {
        builder.push_extension(&kind, value.get());
    }
}

fn text(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let Some(text) = builder.take_text(fields, "text") else { return false };
    fields.take("type");
    if text.is_empty() {
        return true;
    }
    builder.push_text(&text);
    builder.tag_part_fields(fields.rest_json().as_deref());
    true
}

/// Reads an image whose data is in the part. Returns `false` for an image elsewhere.
fn image(builder: &mut BlockBuilder, kind: &str, fields: &mut Fields<'_>) -> bool {
    if kind != "image" {
        return false;
    }
    let Some(mut source) = fields.get("source").and_then(Fields::read) else { return false };
    if source.take_string("type").as_deref() != Some("base64") {
        return false;
    }
    let media = source.take_string("media_type").and_then(|mime| images::media_type(&mime));
    let data = source.take_string("data").and_then(|data| images::decode(&data));
    let (Some(media), Some(data)) = (media, data) else {
        builder.warn("cannot decode an image; imported as an extension block".to_owned());
        return false;
    };
    fields.take("type");
    fields.take("source");
    builder.push_image(media, "", data);
    builder.tag_part_fields(rest_with(fields, "source", source.rest_json()).as_deref());
    true
}

fn call(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    let Some(name) = fields.take_string("name") else {
        builder.warn("tool call has no name; imported as an extension block".to_owned());
        return false;
    };
    fields.take("type");
    let id = fields.take_string("id").unwrap_or_default();
    if id.is_empty() {
        builder.warn("tool call has no ID; assigned one".to_owned());
    }
    let input = fields.take("input").map_or("", RawValue::get);
    builder.push_call(&id, &name, input);
    builder.tag_part_fields(fields.rest_json().as_deref());
    true
}

fn result(builder: &mut BlockBuilder, fields: &mut Fields<'_>) -> bool {
    fields.take("type");
    let id = fields.take_string("tool_use_id").or_else(|| {
        builder.warn("tool result has no ID; matched to the oldest open call".to_owned());
        builder.open_call(None)
    });
    let id = id.unwrap_or_default();
    let content = fields.take("content");
    let parts = content.and_then(raw_json::array);
    let is_text = |value: &&RawValue| {
        Fields::read(value).and_then(|part| part.string("type")).as_deref() == Some("text")
    };
    // Only a TOOL_RESULT, which a text becomes, has a field for a failure.
    let has_text = parts.as_ref().is_none_or(|list| list.is_empty() || list.iter().any(is_text));
    let failed = fields.get("is_error").and_then(raw_json::boolean);
    if has_text && failed.is_some() {
        fields.take("is_error");
    }
    let status = if failed == Some(true) { Status::Error } else { Status::Ok };
    match (content, parts) {
        (Some(_), Some(parts)) if !parts.is_empty() => {
            builder.begin_result(&id, None);
            for value in parts {
                reader::result_part(
                    builder,
                    (&id, None, status),
                    value,
                    |kind| kind == "text",
                    image,
                );
            }
        }
        (Some(value), None) => {
            let text = builder.string(value).unwrap_or_else(|| value.get().to_owned());
            builder.push_result(&id, None, status, &text);
        }
        _ => builder.push_result(&id, None, status, ""),
    }
    builder.tag_result_fields(fields.rest_json().as_deref());
    true
}
