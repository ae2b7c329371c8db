//! What messages and results say: a text or a list of parts.

use lcp_types::Status;
use serde_json::value::RawValue;

use crate::build::Builder;
use crate::json::{self, Fields};
use crate::pictures;
use crate::transcript::{self, rest_with};

/// Whether a part of this type is a text. Chat completions and responses say it
/// differently.
fn is_text(kind: &str) -> bool {
    matches!(kind, "text" | "input_text" | "output_text")
}

/// What a message says.
pub(super) fn message(builder: &mut Builder, value: &RawValue) {
    transcript::content(builder, value, part);
}

fn part(builder: &mut Builder, value: &RawValue) {
    if let Some(text) = builder.string(value) {
        return builder.text(&text);
    }
    let fields = Fields::read(value);
    let Some((mut fields, kind)) = fields.and_then(|of| of.string("type").map(|kind| (of, kind)))
    else {
        builder.warn("a part without a type is kept as an extension".to_owned());
        return builder.aside("part", value.get());
    };
    if is_text(&kind) {
        if let Some(text) = builder.take_text(&mut fields, "text") {
            fields.take("type");
            if !text.is_empty() {
                builder.text(&text);
                builder.part_fields(fields.rest_json().as_deref());
            }
            return;
        }
    } else if image(builder, &kind, &mut fields) {
        return;
    }
    builder.unknown(&kind, value.get());
}

/// A picture whose data is here; one that is elsewhere is not.
fn image(builder: &mut Builder, kind: &str, fields: &mut Fields<'_>) -> bool {
    if !matches!(kind, "image_url" | "input_image") {
        return false;
    }
    let Some(place) = fields.get("image_url") else { return false };
    let mut inner = Fields::read(place).unwrap_or_default();
    let Some(uri) = inner.take_string("url").or_else(|| json::string(place)) else { return false };
    let Some((media, data)) = pictures::data_uri(&uri) else {
        if uri.starts_with("data:") {
            builder.warn("a picture that cannot be read is kept as an extension".to_owned());
        }
        return false;
    };
    fields.take("type");
    fields.take("image_url");
    builder.image(media, "", data);
    builder.part_fields(rest_with(fields, "image_url", &inner).as_deref());
    true
}

/// What the result of a call says.
pub(super) fn result(
    builder: &mut Builder,
    id: &str,
    name: Option<&str>,
    content: Option<&RawValue>,
) {
    let Some(value) = content else { return builder.result(id, name, Status::Ok, "") };
    if let Some(text) = builder.string(value) {
        return builder.result(id, name, Status::Ok, &text);
    }
    match json::array(value) {
        Some(parts) if !parts.is_empty() => {
            builder.answer(id, name);
            for value in parts {
                result_part(builder, id, name, value);
            }
        }
        Some(_) => builder.result(id, name, Status::Ok, ""),
        None => builder.result(id, name, Status::Ok, value.get()),
    }
}

fn result_part(builder: &mut Builder, id: &str, name: Option<&str>, value: &RawValue) {
    if let Some(text) = builder.string(value) {
        return builder.result_text(id, name, Status::Ok, &text);
    }
    let mut fields = Fields::read(value).unwrap_or_default();
    let kind = fields.string("type").unwrap_or_else(|| "part".to_owned());
    if is_text(&kind) {
        if let Some(text) = builder.take_text(&mut fields, "text") {
            fields.take("type");
            builder.result_text(id, name, Status::Ok, &text);
            return builder.part_fields(fields.rest_json().as_deref());
        }
    } else if image(builder, &kind, &mut fields) {
        return builder.answers(id);
    }
    builder.unknown(&kind, value.get());
    builder.answers(id);
}
