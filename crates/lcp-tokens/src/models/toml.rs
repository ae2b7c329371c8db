//! Reads the `[[model]]` entries of an `lcp.toml`.

use std::collections::HashSet;
use std::ops::Range;

use ::toml::Spanned;
use serde::Deserialize;

use super::{ENCODINGS, Model, lookup};

/// An error in an entry, with its position.
///
/// Line and column are counted from 1. Columns are in characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at line {line}, column {column}")]
#[non_exhaustive]
pub struct ModelsError {
    /// The message.
    pub message: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// The part of an `lcp.toml` that is read here.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    model: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    window: Spanned<u32>,
    output: Option<Spanned<u32>>,
    encoding: Option<Spanned<String>>,
    #[serde(default)]
    aliases: Vec<Spanned<String>>,
    #[serde(default)]
    prefixes: Vec<Spanned<String>>,
}

/// Returns the models of a file, in order.
pub(super) fn parse(text: &str) -> Result<Vec<Model>, ModelsError> {
    let fail = |span: Range<usize>, message| Err(error(text, span.start, message));
    let file: File = match ::toml::from_str(text) {
        Ok(file) => file,
        Err(bad) => {
            let message = bad.message().replacen("unknown field", "unknown key", 1);
            let message = message.replacen("missing field", "missing key", 1);
            return fail(bad.span().unwrap_or_default(), message);
        }
    };
    // Names and aliases must be distinct, and so must prefixes. But a model can have its name as a
    // prefix.
    let (mut whole, mut beginnings) = (HashSet::new(), HashSet::new());
    let mut models = Vec::with_capacity(file.model.len());
    for entry in file.model {
        let names = std::iter::once(("name", &entry.name));
        let names = names.chain(entry.aliases.iter().map(|alias| ("aliases", alias)));
        let prefixes = entry.prefixes.iter().map(|prefix| ("prefixes", prefix));
        for (key, spelling) in names.chain(prefixes) {
            let normal = lookup::normalize(spelling.get_ref());
            if normal.is_empty() {
                return fail(spelling.span(), format!("{key} must not be empty"));
            }
            let seen = if key == "prefixes" { &mut beginnings } else { &mut whole };
            if !seen.insert(normal) {
                let message = format!("duplicate {:?} in {key}", spelling.get_ref());
                return fail(spelling.span(), message);
            }
        }
        match entry.checked() {
            Ok(model) => models.push(model),
            Err((span, message)) => return fail(span, message),
        }
    }
    Ok(models)
}

impl Entry {
    fn checked(self) -> Result<Model, (Range<usize>, String)> {
        let name = self.name.into_inner();
        let window = *self.window.get_ref();
        if window == 0 {
            return Err((self.window.span(), format!("window of {name:?} must not be 0")));
        }
        if let Some(output) = &self.output {
            let tokens = *output.get_ref();
            if tokens == 0 {
                return Err((output.span(), format!("output of {name:?} must not be 0")));
            }
            if tokens > window {
                let message =
                    format!("output of {name:?} exceeds its window: {tokens} > {window} tokens");
                return Err((output.span(), message));
            }
        }
        if let Some(encoding) = &self.encoding {
            let name = encoding.get_ref();
            // A misspelled encoding must not be taken for a file.
            if !ENCODINGS.contains(&name.as_str()) && !name.contains(['.', '/', '\\']) {
                let known = ENCODINGS.join(", ");
                let message = format!(
                    "unknown encoding {name:?}; expected one of: {known}, or a tokenizer file"
                );
                return Err((encoding.span(), message));
            }
        }
        let inner = |list: Vec<Spanned<String>>| list.into_iter().map(Spanned::into_inner);
        Ok(Model {
            name,
            encoding: self.encoding.map(Spanned::into_inner),
            window,
            output_max: self.output.map(Spanned::into_inner),
            aliases: inner(self.aliases).collect(),
            prefixes: inner(self.prefixes).collect(),
            is_family_default: false,
        })
    }
}

fn error(text: &str, at: usize, message: String) -> ModelsError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ModelsError {
        message,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
