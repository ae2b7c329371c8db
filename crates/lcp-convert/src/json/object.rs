//! Writing JSON of values that are JSON already.

use std::collections::HashSet;

use super::{Fields, quote};

/// An object that is being written.
#[derive(Debug, Default)]
pub(crate) struct Object(Vec<(String, String)>);

impl Object {
    /// A field whose value is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) -> &mut Self {
        self.0.push((key.to_owned(), json.to_owned()));
        self
    }

    /// A field that is a text.
    pub(crate) fn text(&mut self, key: &str, text: &str) -> &mut Self {
        self.raw(key, &quote(text))
    }

    /// The fields of another object, as JSON, whose keys are not there yet.
    pub(crate) fn all(&mut self, extra: Option<&str>) -> &mut Self {
        if let Some(fields) = extra.and_then(Fields::parse) {
            let mut there: HashSet<_> = self.0.iter().map(|(key, _)| key.clone()).collect();
            for (key, value) in fields.rest() {
                if there.insert(key.to_owned()) {
                    self.raw(key, value.get());
                }
            }
        }
        self
    }

    /// The object.
    pub(crate) fn finish(self) -> String {
        self.finish_some().unwrap_or_else(|| "{}".to_owned())
    }

    /// The object, unless it has no field.
    pub(crate) fn finish_some(self) -> Option<String> {
        let fields: Vec<_> =
            self.0.iter().map(|(key, json)| format!("{}:{json}", quote(key))).collect();
        (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")))
    }
}

/// The object without these keys.
pub(crate) fn without(object: &str, keys: &[&str]) -> String {
    let mut rest = Object::default();
    for (key, value) in Fields::parse(object).unwrap_or_default().rest() {
        if !keys.contains(&key) {
            rest.raw(key, value.get());
        }
    }
    rest.finish()
}

/// An array of values that are JSON already.
pub(crate) fn list<T: AsRef<str>>(values: &[T]) -> String {
    let values: Vec<_> = values.iter().map(AsRef::as_ref).collect();
    format!("[{}]", values.join(","))
}
