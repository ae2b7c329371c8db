//! Writes JSON from values that are already JSON.

use super::{Fields, push_quoted};

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Object {
    /// The opening brace and the fields; empty without fields.
    json: String,
    keys: Vec<String>,
    /// The fields that [`Self::all`] added to this object and its inner objects.
    extra: String,
}

impl Object {
    /// Adds a field whose value is already JSON.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.key(key);
        self.json.push_str(json);
        self
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.key(key);
        push_quoted(&mut self.json, text);
        self
    }

    fn key(&mut self, key: &str) {
        self.json.push(if self.json.is_empty() { '{' } else { ',' });
        push_quoted(&mut self.json, key);
        self.json.push(':');
        self.keys.push(key.to_owned());
    }

    pub(crate) fn object(&mut self, key: &str, inner: Self) -> &mut Self {
        self.extra.push_str(&inner.extra);
        self.raw(key, &inner.finish())
    }

    /// Adds the fields of another JSON object whose keys are not present.
    pub(crate) fn all(&mut self, extra: Option<&str>) -> &mut Self {
        if let Some(fields) = extra.and_then(Fields::parse) {
            for (key, value) in fields.rest() {
                if !self.has(key) {
                    self.raw(key, value.get());
                    push_quoted(&mut self.extra, key);
                    self.extra.push(':');
                    self.extra.push_str(value.get());
                }
            }
        }
        self
    }

    /// Adds the fields of another object whose keys are not present.
    pub(crate) fn append(&mut self, other: Self) {
        if self.json.is_empty() {
            *self = other;
        } else if other.keys.iter().any(|key| self.has(key)) {
            self.all(Some(&other.finish()));
        } else if let Some(fields) = other.json.strip_prefix('{') {
            self.json.push(',');
            self.json.push_str(fields);
            self.keys.extend(other.keys);
        }
    }

    /// Adds a field whose value is already JSON, unless its key is present.
    pub(crate) fn raw_if_missing(&mut self, key: &str, json: &str) -> &mut Self {
        if !self.has(key) {
            self.raw(key, json);
        }
        self
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|present| present == key)
    }

    /// Returns the text of the fields that [`Self::all`] added, for token counts.
    pub(crate) fn extra(&self) -> &str {
        &self.extra
    }

    pub(crate) fn finish(self) -> String {
        self.finish_some().unwrap_or_else(|| "{}".to_owned())
    }

    /// Returns the object; `None` if it has no fields.
    pub(crate) fn finish_some(mut self) -> Option<String> {
        if self.json.is_empty() {
            return None;
        }
        self.json.push('}');
        Some(self.json)
    }
}

pub(crate) fn without(object: &str, keys: &[&str]) -> String {
    let mut rest = Object::default();
    for (key, value) in Fields::parse(object).unwrap_or_default().rest() {
        if !keys.contains(&key) {
            rest.raw(key, value.get());
        }
    }
    rest.finish()
}

/// Returns an array of values that are already JSON.
pub(crate) fn list<T: AsRef<str>>(values: &[T]) -> String {
    let bytes: usize = values.iter().map(|value| value.as_ref().len() + 1).sum();
    let mut json = String::with_capacity(bytes + 2);
    json.push('[');
    for value in values {
        if json.len() > 1 {
            json.push(',');
        }
        json.push_str(value.as_ref());
    }
    json.push(']');
    json
}
