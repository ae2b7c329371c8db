//! What the formats of messages have in common: lists, requests, files of them.

use serde_json::value::RawValue;

use crate::build::Builder;
use crate::json::{self, Document, Fields, Source};
use crate::{Error, ErrorKind, Format, ImportResult, Result};

/// How a format is read.
pub(crate) struct Reader {
    pub(crate) format: Format,
    /// What there is to be found, for people.
    pub(crate) looked_for: &'static str,
    /// Reads one message; `false` if it is none.
    pub(crate) message: fn(&mut Builder, &RawValue) -> bool,
    /// Reads an object that is no message, a request perhaps; `false` if it is something else.
    pub(crate) envelope: fn(&Self, &mut Builder, &Source<'_>, Fields<'_>) -> bool,
}

/// What a message says: a text, or a list of parts that `part` reads.
pub(crate) fn content(builder: &mut Builder, value: &RawValue, part: fn(&mut Builder, &RawValue)) {
    if let Some(text) = builder.string(value) {
        builder.text(&text);
    } else if let Some(parts) = json::array(value) {
        for value in parts {
            part(builder, value);
        }
    } else {
        builder
            .warn("content that is neither a text nor a list is kept as an extension".to_owned());
        builder.aside("content", value.get());
    }
}

impl Reader {
    /// All of an input.
    pub(crate) fn import(&self, bytes: &[u8]) -> Result<ImportResult> {
        let source = Source::new(bytes)?;
        let mut builder = Builder::new(self.format);
        let is_one = match source.document()? {
            Document::One(value) => self.value(&mut builder, &source, value),
            Document::Lines(lines) => {
                let (mut any, mut conversations) = (false, 0);
                for line in lines {
                    builder.at_line(source.line(line.text));
                    match line.value {
                        Ok(value) => {
                            let is_one = self.value_or_item(&mut builder, &source, value);
                            any |= is_one;
                            conversations += usize::from(is_one && Self::is_whole(value));
                        }
                        Err(error) => {
                            // The builder says the line.
                            builder.warn(Error { line: 0, column: 0, ..error }.to_string());
                            builder.aside("line", line.text);
                        }
                    }
                }
                if conversations > 1 {
                    builder.warn_of_all(format!(
                        "{conversations} lines are conversations of their own; here each goes on with \
                         the one before it"
                    ));
                }
                any
            }
        };
        if !is_one {
            let kind =
                ErrorKind::NotATranscript { format: self.format, looked_for: self.looked_for };
            return Err(Error::at(kind, 0, 0));
        }
        if builder.messages() == 0 {
            builder.warn("there are no messages".to_owned());
        }
        Ok(builder.finish())
    }

    fn value_or_item(&self, builder: &mut Builder, source: &Source<'_>, value: &RawValue) -> bool {
        let is_one = self.value(builder, source, value);
        if !is_one {
            self.item(builder, value);
        }
        is_one
    }

    /// Whether a line that is read is a list of messages or an object with one, and no message.
    fn is_whole(value: &RawValue) -> bool {
        let is_message = |of: Fields<'_>| ["role", "type"].iter().any(|key| of.get(key).is_some());
        !Fields::read(value).is_some_and(is_message)
    }

    /// A list of messages, an object with one, or a message.
    fn value(&self, builder: &mut Builder, source: &Source<'_>, value: &RawValue) -> bool {
        builder.at_line(source.line(value.get()));
        if let Some(list) = json::array(value) {
            return self.messages(builder, source, &list);
        }
        let Some(fields) = Fields::read(value) else { return false };
        (self.envelope)(self, builder, source, fields) || (self.message)(builder, value)
    }

    /// The messages of a list; `false` if there is something, and nothing is a message.
    pub(crate) fn messages(
        &self,
        builder: &mut Builder,
        source: &Source<'_>,
        list: &[&RawValue],
    ) -> bool {
        let before = builder.messages();
        let mut others = Vec::new();
        for value in list {
            builder.at_line(source.line(value.get()));
            if !(self.message)(builder, value) {
                // Nothing may be kept of what is no transcript.
                if builder.messages() == before {
                    others.push(*value);
                } else {
                    self.item(builder, value);
                }
            }
        }
        let any = builder.messages() > before;
        if any {
            for value in others {
                builder.at_line(source.line(value.get()));
                self.item(builder, value);
            }
        }
        any || list.is_empty()
    }

    fn item(&self, builder: &mut Builder, value: &RawValue) {
        builder.warn(format!("this is no message of {}; it is kept as an extension", self.format));
        builder.aside("item", value.get());
    }

    /// The same for what stands under a key, which must be a list; the rest of the
    /// object is kept under `rest`.
    pub(crate) fn list_under(
        &self,
        key: &str,
        rest: &str,
        builder: &mut Builder,
        source: &Source<'_>,
        mut fields: Fields<'_>,
    ) -> bool {
        let Some(list) = fields.get(key).and_then(json::array) else { return false };
        fields.take(key);
        let any = self.messages(builder, source, &list);
        if any {
            keep(builder, rest, &fields);
        }
        any
    }

    /// The object under the first of these keys that is an envelope itself, as lines of
    /// batches are; the rest is kept.
    pub(crate) fn inside(
        &self,
        keys: &[&str],
        builder: &mut Builder,
        source: &Source<'_>,
        fields: &Fields<'_>,
    ) -> bool {
        keys.iter().any(|key| {
            let Some(value) = fields.get(key) else { return false };
            let inner = Fields::read(value);
            let any = inner.is_some_and(|inner| (self.envelope)(self, builder, source, inner));
            if any {
                let mut fields = fields.clone();
                fields.take(key);
                keep(builder, "line", &fields);
            }
            any
        })
    }
}

/// Keeps what is left of an object that is no message.
pub(crate) fn keep(builder: &mut Builder, type_name: &str, fields: &Fields<'_>) {
    if let Some(rest) = fields.rest_json() {
        builder.aside(type_name, &rest);
    }
}

/// What is left of a part and of an object within it, which stands under `key`, as one
/// object; `None` if that is nothing.
pub(crate) fn rest_with(fields: &Fields<'_>, key: &str, inner: &Fields<'_>) -> Option<String> {
    let mut object = json::Object::default();
    object.all(fields.rest_json().as_deref());
    if let Some(inner) = inner.rest_json() {
        object.raw(key, &inner);
    }
    object.finish_some()
}
