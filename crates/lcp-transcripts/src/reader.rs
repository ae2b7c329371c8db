//! Reads the structures that formats share: message lists, requests, JSON lines and tool results.

use lcp_types::Status;
use serde_json::value::RawValue;

use crate::builder::BlockBuilder;
use crate::raw_json::{self, Document, Fields, Line, ParseLine, Source};
use crate::{Error, Format, ImportResult, Result};

/// The functions that read one format.
pub(crate) struct Reader {
    pub(crate) format: Format,
    /// A description of the expected structure, for error messages.
    pub(crate) looked_for: &'static str,
    /// Reads one message. Returns `false` if the value is not a message.
    pub(crate) message: fn(&mut BlockBuilder, &RawValue) -> bool,
    /// Reads an object that is not a message, such as a request. Returns `false` for any other
    /// object.
    pub(crate) envelope: fn(&Self, &mut BlockBuilder, Fields<'_>) -> bool,
}

/// Reads the content of a message: a text, or a list of parts that `part` reads.
pub(crate) fn content(
    builder: &mut BlockBuilder,
    value: &RawValue,
    part: fn(&mut BlockBuilder, &RawValue),
) {
    if let Some(text) = builder.string(value) {
        builder.push_text(&text);
    } else if let Some(parts) = raw_json::array(value) {
        for value in parts {
            part(builder, value);
        }
    } else {
        let message = "content is neither text nor a list; imported as an extension block";
        builder.warn(message.to_owned());
        builder.push_detached("content", value.get());
    }
}

impl Reader {
    /// Imports a whole input.
    pub(crate) fn import(&self, bytes: &[u8]) -> Result<ImportResult> {
        let source = Source::new(bytes)?;
        let mut builder = BlockBuilder::new(self.format, &source);
        let is_one = match source.document()? {
            Document::List(list) => {
                builder.move_to(source.text().trim_start());
                self.messages(&mut builder, &list)
            }
            Document::One(value) => self.value(&mut builder, value),
            Document::Lines(lines) => {
                let (mut any, mut conversations) = (false, 0);
                for line in lines {
                    builder.move_to(line.text);
                    match line.value {
                        Ok(value) => {
                            let is_one = self.value(&mut builder, value);
                            if !is_one {
                                self.item(&mut builder, value);
                            }
                            any |= is_one;
                            conversations += usize::from(is_one && Self::is_whole(value));
                        }
                        Err(error) => builder.push_broken_line(line.text, &error),
                    }
                }
                if conversations > 1 {
                    builder.warn_globally(format!(
                        "{conversations} lines are separate conversations; joined them into one"
                    ));
                }
                any
            }
        };
        if !is_one {
            return Err(Error::looked_for(self.format, self.looked_for));
        }
        if builder.message_count() == 0 {
            builder.warn("the transcript contains no messages".to_owned());
        }
        Ok(builder.finish())
    }

    /// Returns whether a line is a whole conversation (a list of messages or an object that
    /// contains one) and not a single message.
    fn is_whole(value: &RawValue) -> bool {
        let is_message = |of: Fields<'_>| ["role", "type"].iter().any(|key| of.get(key).is_some());
        !Fields::read(value).is_some_and(is_message)
    }

    /// Reads a list of messages, an object that contains one, or a single message.
    fn value(&self, builder: &mut BlockBuilder, value: &RawValue) -> bool {
        builder.move_to(value.get());
        if let Some(list) = raw_json::array(value) {
            return self.messages(builder, &list);
        }
        let Some(fields) = Fields::read(value) else { return false };
        (self.envelope)(self, builder, fields) || (self.message)(builder, value)
    }

    /// Reads the messages of a list. Returns `false` if the list is not empty but contains no
    /// message.
    pub(crate) fn messages(&self, builder: &mut BlockBuilder, list: &[&RawValue]) -> bool {
        let before = builder.message_count();
        let mut others = Vec::new();
        for value in list {
            builder.move_to(value.get());
            if !(self.message)(builder, value) {
                // Add these items only after the first message, because the list may not be a
                // transcript.
                if builder.message_count() == before {
                    others.push(*value);
                } else {
                    self.item(builder, value);
                }
            }
        }
        let any = builder.message_count() > before;
        if any {
            for value in others {
                builder.move_to(value.get());
                self.item(builder, value);
            }
        }
        any || list.is_empty()
    }

    fn item(&self, builder: &mut BlockBuilder, value: &RawValue) {
        builder.warn(format!("not a message of {}; imported as an extension block", self.format));
        builder.push_detached("item", value.get());
    }

    /// Reads the message list under a key, and adds the rest of the object as an extension `rest`.
    pub(crate) fn list_under(
        &self,
        key: &str,
        rest: &str,
        builder: &mut BlockBuilder,
        mut fields: Fields<'_>,
    ) -> bool {
        let Some(list) = fields.get(key).and_then(raw_json::array) else { return false };
        fields.take(key);
        let any = self.messages(builder, &list);
        if any {
            keep(builder, rest, &fields);
        }
        any
    }

    /// Reads the first envelope under these keys, as batch files have it, and adds the rest of the
    /// object as an extension.
    pub(crate) fn inside(
        &self,
        keys: &[&str],
        builder: &mut BlockBuilder,
        fields: &Fields<'_>,
    ) -> bool {
        keys.iter().any(|key| {
            let Some(value) = fields.get(key) else { return false };
            let inner = Fields::read(value);
            let any = inner.is_some_and(|inner| (self.envelope)(self, builder, inner));
            if any {
                let mut fields = fields.clone();
                fields.take(key);
                keep(builder, "line", &fields);
            }
            any
        })
    }
}

/// Adds the remaining fields of an object that is not a message as an extension.
pub(crate) fn keep(builder: &mut BlockBuilder, type_name: &str, fields: &Fields<'_>) {
    if let Some(rest) = fields.rest_json() {
        builder.push_detached(type_name, &rest);
    }
}

/// Reads a part of a tool result: text or an image. Any other part becomes an extension.
pub(crate) fn result_part(
    builder: &mut BlockBuilder,
    (id, tool, status): (&str, Option<&str>, Status),
    value: &RawValue,
    is_text: fn(&str) -> bool,
    image: fn(&mut BlockBuilder, &str, &mut Fields<'_>) -> bool,
) {
    let mut fields = Fields::read(value).unwrap_or_default();
    let kind = fields.string("type").unwrap_or_else(|| "part".to_owned());
    if is_text(&kind) {
        if let Some(text) = builder.take_text(&mut fields, "text") {
            fields.take("type");
            builder.push_result_text(id, tool, status, &text);
            return builder.tag_part_fields(fields.rest_json().as_deref());
        }
    } else if image(builder, &kind, &mut fields) {
        return builder.tag_as_result_of(id);
    }
    builder.push_extension(&kind, value.get());
    builder.tag_as_result_of(id);
}

/// Returns the remaining fields of a part, with those of its inner object under `key`; `None` if
/// there are no fields left.
pub(crate) fn rest_with(fields: &Fields<'_>, key: &str, inner: Option<String>) -> Option<String> {
    let mut object = raw_json::Object::default();
    object.all(fields.rest_json().as_deref());
    if let Some(inner) = inner {
        object.raw(key, &inner);
    }
    object.finish_some()
}

/// Imports the lines of a session, the items of a list, or one object.
///
/// `begin` gets all parsed lines and returns a reader. The reader gets each line that is JSON, in order, and
/// returns whether it belongs to the format. Lines that are not JSON become extensions, with a
/// warning.
///
/// # Errors
///
/// Returns the first JSON error, or
/// [`ErrorKind::NotATranscript`](crate::ErrorKind::NotATranscript), if no line belongs to the
/// format.
pub(crate) fn import_lines<'a, V: ParseLine<'a>, Read: FnMut(&mut BlockBuilder, V) -> bool>(
    format: Format,
    looked_for: &'static str,
    bytes: &'a [u8],
    begin: impl FnOnce(&[Line<'a, V>]) -> Read,
) -> Result<ImportResult> {
    let source = Source::new(bytes)?;
    let lines = source.lines_or_items();
    let mut read = begin(&lines);
    let mut builder = BlockBuilder::new(format, &source);
    let (mut is_one, mut wrong) = (false, None);
    for line in lines {
        builder.move_to(line.text);
        match line.value {
            Ok(value) => is_one |= read(&mut builder, value),
            Err(error) => {
                builder.push_broken_line(line.text, &error);
                wrong = wrong.or(Some(error));
            }
        }
    }
    match wrong {
        _ if is_one => Ok(builder.finish()),
        Some(error) => Err(error),
        None => Err(Error::looked_for(format, looked_for)),
    }
}
