//! Reading JSON without losing a byte of what is passed on.
//!
//! Values stay the text that they were ([`RawValue`]); objects are looked into one
//! level at a time. So numbers of any size and the order of keys survive.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, ErrorKind, Result};

/// Levels of arrays and objects: what serde_json reads, and many others.
const DEPTH_MAX: usize = 128;

/// The text of an input, which knows its lines.
pub(crate) struct Source<'a> {
    text: &'a str,
    /// Where each line but the first begins.
    starts: Vec<usize>,
}

/// What an input is: one value, or one on each line.
pub(crate) enum Document<'a> {
    One(&'a RawValue),
    Lines(Vec<Line<'a>>),
}

/// A line that is not empty, and what it holds.
pub(crate) struct Line<'a> {
    pub(crate) text: &'a str,
    pub(crate) value: Result<&'a RawValue>,
}

impl<'a> Source<'a> {
    /// The input as text, without its byte order mark.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            Error::at(ErrorKind::NotUtf8, line, before.len() - start + 1)
        })?;
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        Ok(Self { text, starts })
    }

    /// All of the text.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// The line of `part`, which is a part of this text, counted from 1.
    pub(crate) fn line(&self, part: &str) -> usize {
        self.place(self.offset(part)).0
    }

    /// How many bytes stand before `part`.
    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize)
    }

    /// Line and column of a byte, counted from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(0);
        (line + 1, offset.saturating_sub(start) + 1)
    }

    /// The value that `part`, a part of this text, is.
    pub(crate) fn value(&self, part: &'a str) -> Result<&'a RawValue> {
        let value = serde_json::from_str::<&RawValue>(part).map_err(|error| {
            let (first, column) = self.place(self.offset(part));
            let column =
                if error.line() > 1 { error.column() } else { error.column() + column - 1 };
            let message = error.to_string();
            // The place is said once, and counted over the whole input.
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            Error::at(ErrorKind::NotJson(message), first + error.line().saturating_sub(1), column)
        })?;
        match too_deep(value.get()) {
            None => Ok(value),
            Some(at) => {
                let (line, column) = self.place(self.offset(value.get()) + at);
                Err(Error::at(ErrorKind::TooDeep { max: DEPTH_MAX }, line, column))
            }
        }
    }

    /// The one value of the input, or those of its lines, where the first line is a
    /// value of its own and others follow.
    pub(crate) fn document(&self) -> Result<Document<'a>> {
        match self.value(self.text) {
            Ok(value) => Ok(Document::One(value)),
            Err(error) => {
                let lines = self.lines();
                match lines.as_slice() {
                    [first, _, ..] if first.value.as_ref().is_ok_and(|first| is_object(first)) => {
                        Ok(Document::Lines(lines))
                    }
                    _ => Err(error),
                }
            }
        }
    }

    /// The lines that are not empty.
    pub(crate) fn lines(&self) -> Vec<Line<'a>> {
        let texts = self.text.lines().filter(|line| !line.trim().is_empty());
        texts.map(|text| Line { text, value: self.value(text) }).collect()
    }
}

/// Where JSON goes too deep.
fn too_deep(json: &str) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for (at, byte) in json.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Some(at);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Whether the value is an object.
pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Whether the value is null.
pub(crate) fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// The elements of an array.
pub(crate) fn array<'a>(value: &'a RawValue) -> Option<Vec<&'a RawValue>> {
    value.get().starts_with('[').then(|| serde_json::from_str(value.get()).ok()).flatten()
}

/// The text that a string says. Halves of surrogate pairs, which no text can hold,
/// become U+FFFD.
pub(crate) fn string(value: &RawValue) -> Option<String> {
    if !value.get().starts_with('"') {
        return None;
    }
    serde_json::from_str(value.get()).ok().or_else(|| {
        let Lossy(text) = serde_json::from_str(value.get()).ok()?;
        Some(text)
    })
}

/// Whether the text of a string loses something, being half of a surrogate pair.
pub(crate) fn is_lossy(value: &RawValue) -> bool {
    value.get().starts_with('"') && serde_json::from_str::<String>(value.get()).is_err()
}

/// The truth that a value says.
pub(crate) fn boolean(value: &RawValue) -> Option<bool> {
    serde_json::from_str(value.get()).ok()
}

/// A text as JSON.
pub(crate) fn quote(text: &str) -> String {
    // A string has no way to fail.
    serde_json::to_string(text).unwrap_or_default()
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Lossy;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> std::result::Result<Lossy, E> {
                Ok(Lossy(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
        from.deserialize_bytes(Bytes)
    }
}

/// The fields of an object, in order, each taken once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Those of this value; `None` if it is no object.
    pub(crate) fn read(value: &'a RawValue) -> Option<Self> {
        Self::parse(value.get())
    }

    /// Those of the object that this text is.
    pub(crate) fn parse(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// What stands under a key, if it is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| *value).filter(|value| !is_null(value))
    }

    /// The same, and it is no longer there; of a key that is there twice, the last.
    pub(crate) fn take(&mut self, key: &str) -> Option<&'a RawValue> {
        let value = self.get(key);
        self.0.retain(|(name, _)| name != key);
        value
    }

    /// The text under a key; it is no longer there, unless it is something else.
    pub(crate) fn take_string(&mut self, key: &str) -> Option<String> {
        let text = string(self.get(key)?)?;
        self.take(key);
        Some(text)
    }

    /// The text under a key.
    pub(crate) fn string(&self, key: &str) -> Option<String> {
        string(self.get(key)?)
    }

    /// What is left, without what is null, each key and value as it stood.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0
            .iter()
            .filter(|(_, value)| !is_null(value))
            .map(|(key, value)| (key.as_str(), *value))
    }

    /// What is left as an object; `None` if that is nothing.
    pub(crate) fn rest_json(&self) -> Option<String> {
        let mut object = Object::default();
        for (key, value) in self.rest() {
            object.raw(key, value.get());
        }
        object.finish_some()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        from.deserialize_map(Map).map(Fields)
    }
}

/// Whether a text is one JSON object.
pub(crate) fn is_json_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && too_deep(text).is_none()
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Object(String);

impl Object {
    /// A field whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&quote(key));
        self.0.push(':');
        self.0.push_str(json);
        self
    }

    /// A field that is a text.
    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.raw(key, &quote(text))
    }

    /// The fields of another object, as JSON.
    pub(crate) fn all(&mut self, extra: Option<&str>) -> &mut Self {
        if let Some(fields) = extra.and_then(Fields::parse) {
            for (key, value) in fields.rest() {
                self.raw(key, value.get());
            }
        }
        self
    }

    /// The object.
    pub(crate) fn finish(self) -> String {
        self.finish_some().unwrap_or_else(|| "{}".to_owned())
    }

    /// The object, unless it has no field.
    pub(crate) fn finish_some(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push('}');
        Some(self.0)
    }
}

/// An array of values that are JSON already.
pub(crate) fn list<T: AsRef<str>>(values: &[T]) -> String {
    let mut text = String::from("[");
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(value.as_ref());
    }
    text.push(']');
    text
}

/// The text of a value on one line: itself where it is a string, else its JSON.
pub(crate) fn text_of(value: &RawValue) -> Cow<'_, str> {
    string(value).map_or(Cow::Borrowed(value.get()), Cow::Owned)
}
