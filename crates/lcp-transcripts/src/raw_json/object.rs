//! Writes JSON from values that are already JSON.

use std::collections::HashSet;

use super::{Fields, quote};

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Object {
    fields: Vec<(String, String)>,
    /// The fields that [`Self::all`] added to this object and its inner objects.
    extra: String,
}

impl Object {
    /// Adds a field whose value is already JSON.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.fields.push((key.to_owned(), json.to_owned()));
        self
    }

    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.raw(key, &quote(text))
    }

    pub(crate) fn object(&mut self, key: &str, inner: Self) -> &mut Self {
        self.extra.push_str(&inner.extra);
        self.raw(key, &inner.finish())
    }

    /// Adds the fields of another JSON object whose keys are not present.
    pub(crate) fn all(&mut self, extra: Option<&str>) -> &mut Self {
        if let Some(fields) = extra.and_then(Fields::parse) {
            let mut there: HashSet<_> = self.fields.iter().map(|(key, _)| key.clone()).collect();
            for (key, value) in fields.rest() {
                if there.insert(key.to_owned()) {
                    self.raw(key, value.get());
                    self.extra.push_str(&field(key, value.get()));
                }
            }
        }
        self
    }

    /// Adds a field whose value is already JSON, unless its key is present.
    pub(crate) fn raw_if_missing(&mut self, key: &str, json: &str) -> &mut Self {
        if self.fields.iter().all(|(present, _)| present != key) {
            self.raw(key, json);
        }
        self
    }

    /// Returns the text of the fields that [`Self::all`] added, for token counts.
    pub(crate) fn extra(&self) -> &str {
        &self.extra
    }

    pub(crate) fn finish(self) -> String {
        self.finish_some().unwrap_or_else(|| "{}".to_owned())
    }

    /// Returns the object; `None` if it has no fields.
    pub(crate) fn finish_some(self) -> Option<String> {
        let fields: Vec<_> = self.fields.iter().map(|(key, json)| field(key, json)).collect();
        (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
    }
}

fn field(key: &str, json: &str) -> String {
    format!("{}:{json}", quote(key))
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
    let values: Vec<_> = values.iter().map(AsRef::as_ref).collect();
    format!("[{}]", values.join(","))
}
