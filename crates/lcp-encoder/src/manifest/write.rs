//! Formatting of blocks as JSON, as a [`FieldWriter`].

use std::convert::Infallible;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lcp_types::codec::{FieldSpec, FieldWriter, Record};
use lcp_types::{Block, CowBytes, UnknownField, UnknownValue};

use super::Entry;

/// Formats `blocks` as a manifest with one block per line. Annotations are written as blocks, so
/// parsing the result returns the same blocks.
///
/// ```
/// use lcp_types::{Block, Role};
///
/// let json = lcp_encoder::manifest::to_json(&[Block::conversation(Role::User, "hi")]);
/// assert_eq!(json, "{\"blocks\":[\n{\"type\":\"conversation\",\"role\":\"user\",\"content\":\"hi\"}\n]}\n");
/// ```
#[must_use]
pub fn to_json(blocks: &[Block<'_>]) -> String {
    listed(blocks, |block, object| push_block(block, object, |_| {}))
}

/// Formats these entries as a manifest.
pub(super) fn manifest(entries: &[Entry]) -> String {
    listed(entries, |entry, object| {
        object.absent.clone_from(&entry.absent);
        push_block(&entry.block, object, |object| {
            if let Some(priority) = entry.priority {
                object.string("priority", priority.name());
            }
            if !entry.tags.is_empty() {
                object.key("tags");
                let tags: Vec<_> = entry.tags.iter().map(ToString::to_string).collect();
                object.out.push_str(&serde_json::Value::from(tags).to_string());
            }
            if !entry.levels.is_empty() {
                object.key("levels");
                let mut levels = Object::begin(object.out);
                for (level, text) in &entry.levels {
                    levels.string(level.name(), text);
                }
                levels.end();
            }
        });
    })
}

/// Formats these items as a manifest with one item per line.
fn listed<T>(items: &[T], item: impl Fn(&T, &mut Object<'_>)) -> String {
    let mut out = String::from("{\"blocks\":[");
    for (i, value) in items.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        let mut object = Object::begin(&mut out);
        item(value, &mut object);
        object.end();
    }
    out.push_str("\n]}\n");
    out
}

/// Writes the keys of a block. `more` writes further keys after those that all types have.
fn push_block(block: &Block<'_>, object: &mut Object<'_>, more: impl FnOnce(&mut Object<'_>)) {
    object.string("type", block.block_type().name());
    if block.reserved_flags != 0 {
        object.number("reserved_flags", u64::from(block.reserved_flags));
    }
    if let Some(summary) = &block.summary {
        object.string("summary", summary);
    }
    more(object);
    let Ok(raw) = block.content.write(object);
    if let Some(raw) = raw {
        object.number("type_id", u64::from(raw.type_id));
        object.base64("body", raw.body.as_slice());
    }
}

/// A JSON object that is being written.
struct Object<'o> {
    out: &'o mut String,
    empty: bool,
    /// The keys of codes to omit.
    absent: Vec<&'static str>,
}

impl<'o> Object<'o> {
    fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Self { out, empty: true, absent: Vec::new() }
    }

    fn end(self) {
        self.out.push('}');
    }

    fn key(&mut self, key: &str) {
        if !std::mem::take(&mut self.empty) {
            self.out.push(',');
        }
        push_string(self.out, key);
        self.out.push(':');
    }

    fn string(&mut self, key: &str, value: &str) {
        self.key(key);
        push_string(self.out, value);
    }

    fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        self.out.push_str(&value.to_string());
    }

    fn base64(&mut self, key: &str, bytes: &[u8]) {
        self.string(&format!("{key}_base64"), &BASE64_STANDARD.encode(bytes));
    }

    fn list<T>(&mut self, key: &str, items: &[T], mut item: impl FnMut(&mut Object<'_>, &T)) {
        self.key(key);
        self.out.push('[');
        for (i, value) in items.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            let mut object = Object::begin(self.out);
            item(&mut object, value);
            object.end();
        }
        self.out.push(']');
    }
}

fn push_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

impl FieldWriter for Object<'_> {
    type Error = Infallible;

    fn begin(
        &mut self,
        _: &'static str,
        _: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<(), Infallible> {
        if !unknown.is_empty() {
            self.list("unknown_fields", unknown, |object, field| {
                object.number("id", field.id);
                match &field.value {
                    UnknownValue::Varint(value) => object.number("varint", *value),
                    UnknownValue::Bytes(bytes) => object.base64("bytes", bytes.as_slice()),
                    UnknownValue::Nested(bytes) => object.base64("nested", bytes.as_slice()),
                }
            });
        }
        Ok(())
    }

    fn uint(&mut self, field: &FieldSpec, value: u64) -> Result<(), Infallible> {
        self.number(field.name, value);
        Ok(())
    }

    fn code(&mut self, field: &FieldSpec, code: u8, name: Option<&str>) -> Result<(), Infallible> {
        match name {
            _ if self.absent.contains(&field.name) => {}
            Some(name) => self.string(field.name, name),
            None => self.number(field.name, u64::from(code)),
        }
        Ok(())
    }

    fn text(&mut self, field: &FieldSpec, value: &str) -> Result<(), Infallible> {
        self.string(field.name, value);
        Ok(())
    }

    fn bytes(&mut self, field: &FieldSpec, value: &CowBytes<'_>) -> Result<(), Infallible> {
        match value.as_str() {
            Some(text) => self.string(field.name, text),
            None => self.base64(field.name, value.as_slice()),
        }
        Ok(())
    }

    fn records<'a, T: Record<'a>>(
        &mut self,
        field: &FieldSpec,
        value: &[T],
    ) -> Result<(), Infallible> {
        if !value.is_empty() {
            self.list(field.name, value, |object, record| {
                let Ok(()) = record.write(object);
            });
        }
        Ok(())
    }
}
