//! The content of messages for the APIs of `OpenAI`.

use std::ops::Range;

use super::ExportedMessage;
use super::turn::Part;
use crate::raw_json::{self, Object};

/// The content of a message or result that is being written.
pub(super) struct Content {
    /// The type of parts that are texts.
    text_type: &'static str,
    parts: Vec<String>,
    /// The place in the counted text of the only part, if it is a text without further fields.
    plain: Option<Range<usize>>,
    pub(super) counted: ExportedMessage,
}

impl Content {
    pub(super) fn new(text_type: &'static str) -> Self {
        let counted = ExportedMessage::default();
        Self { text_type, parts: Vec::new(), plain: None, counted }
    }

    pub(super) fn text(&mut self, part: &Part<'_>, text: &str, fields: Option<&str>) {
        let start = self.counted.text.len();
        self.counted.text.push_str(text);
        if fields.is_none() && self.parts.is_empty() && self.plain.is_none() {
            self.counted.blocks.extend(&part.blocks);
            self.plain = Some(start..self.counted.text.len());
            return;
        }
        let object = self.text_part(text, fields);
        self.object(part, object);
    }

    fn text_part(&self, text: &str, fields: Option<&str>) -> Object {
        let mut object = Object::default();
        object.text("type", self.text_type).text("text", text).all(fields);
        object
    }

    /// Writes the only text as a part, because another part follows.
    fn end_plain(&mut self) {
        if let Some(plain) = self.plain.take() {
            let object = self.text_part(&self.counted.text[plain], None);
            self.parts.push(object.finish());
        }
    }

    pub(super) fn object(&mut self, part: &Part<'_>, object: Object) {
        self.counted.text.push_str(object.extra());
        self.counted.blocks.extend(&part.blocks);
        self.end_plain();
        self.parts.push(object.finish());
    }

    pub(super) fn raw(&mut self, part: &Part<'_>, json: &str) {
        self.counted.text.push_str(json);
        self.counted.blocks.extend(&part.blocks);
        self.end_plain();
        self.parts.push(json.to_owned());
    }

    /// Returns the content: a string for a single plain text, else a list. `None` without parts.
    pub(super) fn json(&self) -> Option<String> {
        match (&self.plain, self.parts.as_slice()) {
            (Some(plain), _) => Some(raw_json::quote(&self.counted.text[plain.clone()])),
            (None, []) => None,
            (None, parts) => Some(raw_json::list(parts)),
        }
    }
}
