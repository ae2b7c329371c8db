//! Reads the content of messages and results: a text or a list of parts.

use lcp_types::{Role, Status};
use serde_json::value::RawValue;

use crate::annotation_keys;
use crate::builder::BlockBuilder;
use crate::images;
use crate::raw_json::{self, Fields};
use crate::reader::{self, rest_with};

/// Returns whether a part of this type is a text, in either API.
fn is_text(kind: &str) -> bool {
    matches!(kind, "text" | "input_text" | "output_text")
}

pub(super) fn message(builder: &mut BlockBuilder, value: &RawValue) {
    reader::content(builder, value, part);
}

fn part(builder: &mut BlockBuilder, value: &RawValue) {
    if let Some(text) = builder.string(value) {
        return builder.push_text(&text);
    }
    let fields = Fields::read(value);
    let Some((mut fields, kind)) = fields.and_then(|of| of.string("type").map(|kind| (of, kind)))
    else {
        builder.warn("content part has no type; imported as an extension block".to_owned());
        return builder.push_detached("part", value.get());
    };
    if is_text(&kind) {
        if let Some(text) = builder.take_text(&mut fields, "text") {
            fields.take("type");
            if !text.is_empty() {
                builder.push_text(&text);
                builder.tag_part_fields(fields.rest_json().as_deref());
            }
            return;
        }
    } else if image(builder, &kind, &mut fields) {
        return;
    }
    builder.push_extension(&kind, value.get());
}

/// Reads an image whose data is in the part. Returns `false` for an image elsewhere.
fn image(builder: &mut BlockBuilder, kind: &str, fields: &mut Fields<'_>) -> bool {
    if !matches!(kind, "image_url" | "input_image") {
        return false;
    }
    let Some(place) = fields.get("image_url") else { return false };
    let mut inner = Fields::read(place).unwrap_or_default();
    let Some(uri) = inner.take_string("url").or_else(|| raw_json::string(place)) else {
        return false;
    };
    let Some((media, data)) = images::data_uri(&uri) else {
        if uri.starts_with("data:") {
            builder.warn("cannot decode an image; imported as an extension block".to_owned());
        }
        return false;
    };
    fields.take("type");
    fields.take("image_url");
    builder.push_image(media, "", data);
    builder.tag_part_fields(rest_with(fields, "image_url", inner.rest_json()).as_deref());
    true
}

/// Reads the content of the result of a call.
pub(super) fn result(
    builder: &mut BlockBuilder,
    id: &str,
    name: Option<&str>,
    content: Option<&RawValue>,
) {
    let Some(value) = content else { return builder.push_result(id, name, Status::Ok, "") };
    if let Some(text) = builder.string(value) {
        return builder.push_result(id, name, Status::Ok, &text);
    }
    match raw_json::array(value) {
        Some(parts) if !parts.is_empty() => {
            builder.begin_result(id, name);
            for value in parts {
                result_part(builder, id, name, value);
            }
        }
        Some(_) => builder.push_result(id, name, Status::Ok, ""),
        None => builder.push_result(id, name, Status::Ok, value.get()),
    }
}

fn result_part(builder: &mut BlockBuilder, id: &str, name: Option<&str>, value: &RawValue) {
    if let Some(text) = builder.string(value) {
        return builder.push_result_text(id, name, Status::Ok, &text);
    }
    reader::result_part(builder, (id, name, Status::Ok), value, is_text, image);
}

/// Begins a message of this role. Returns `false` for roles of tools and unknown roles.
pub(super) fn begin_message(builder: &mut BlockBuilder, role: &str) -> bool {
    match role {
        "system" | "developer" => builder.begin_message(Role::System),
        "user" => builder.begin_message(Role::User),
        "assistant" => builder.begin_message(Role::Assistant),
        _ => return false,
    }
    if role == "developer" {
        builder.tag_message(annotation_keys::ROLE, role);
    }
    true
}

/// Takes the arguments of a call. They are a text, but some servers send an object.
pub(super) fn take_arguments(
    builder: &mut BlockBuilder,
    fields: &mut Fields<'_>,
    key: &str,
) -> String {
    builder
        .take_text(fields, key)
        .or_else(|| fields.take(key).map(|value| value.get().to_owned()))
        .unwrap_or_default()
}
