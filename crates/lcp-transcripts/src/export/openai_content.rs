//! The content of messages for the APIs of `OpenAI`.

use super::ExportedMessage;
use super::turn::Part;
use crate::raw_json::{self, Object};

/// The content of a message or result that is being written.
pub(super) struct Content {
    /// The type of parts that are texts.
    text_type: &'static str,
    parts: Vec<String>,
    /// The text, if it is the only part and has no further fields.
    plain: Option<String>,
    pub(super) counted: ExportedMessage,
}

impl Content {
    pub(super) fn new(text_type: &'static str) -> Self {
        let counted = ExportedMessage::default();
        Self { text_type, parts: Vec::new(), plain: None, counted }
    }

    pub(super) fn text(&mut self, part: &Part<'_>, text: &str, fields: Option<&str>) {
        let mut object = Object::default();
        object.text("type", self.text_type).text("text", text).all(fields);
        let is_plain = fields.is_none() && self.parts.is_empty();
        self.plain = is_plain.then(|| text.to_owned());
        self.counted.text.push_str(text);
        self.object(part, object);
    }

    pub(super) fn object(&mut self, part: &Part<'_>, object: Object) {
        self.counted.text.push_str(object.extra());
        self.counted.blocks.extend(&part.blocks);
        self.parts.push(object.finish());
    }

    pub(super) fn raw(&mut self, part: &Part<'_>, json: &str) {
        self.counted.text.push_str(json);
        self.counted.blocks.extend(&part.blocks);
        self.parts.push(json.to_owned());
    }

    /// Returns the content: a string for a single plain text, else a list. `None` without parts.
    pub(super) fn json(&self) -> Option<String> {
        match (&self.plain, self.parts.as_slice()) {
            (_, []) => None,
            (Some(text), [_]) => Some(raw_json::quote(text)),
            (_, parts) => Some(raw_json::list(parts)),
        }
    }
}
