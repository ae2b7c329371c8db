//! `[[model]]` entries of an `lcp.toml`.

use std::collections::HashSet;
use std::ops::Range;

use ::toml::Spanned;
use serde::Deserialize;

use super::{ENCODINGS, Model, lookup};

/// What is wrong with an entry, and where.
///
/// Line and column count from 1; columns are characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}, at line {line}, column {column}")]
#[non_exhaustive]
pub struct ModelsError {
    /// What is wrong.
    pub kind: ModelsErrorKind,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelsErrorKind {
    /// Not TOML, or not the keys and values of an entry; the text says what.
    #[error("{0}")]
    Syntax(String),
    /// A name, an alias or a prefix without a character.
    #[error("{key} must not be empty")]
    Empty {
        /// The key.
        key: &'static str,
    },
    /// A limit of 0 tokens.
    #[error("{key} of {model:?} must not be 0")]
    Zero {
        /// The key.
        key: &'static str,
        /// The model's name.
        model: String,
    },
    /// An output limit above the window.
    #[error("output of {model:?} is {output} tokens and its window only {window}")]
    OutputOverWindow {
        /// The model's name.
        model: String,
        /// The output limit.
        output: u32,
        /// The window.
        window: u32,
    },
    /// A spelling that the file has already given to a model.
    #[error("{spelling:?} is given twice")]
    Duplicate {
        /// The spelling.
        spelling: String,
    },
    /// Neither one of [`ENCODINGS`] nor the path of a file.
    #[error(
        "encoding {encoding:?} is unknown; it may be {}, or a tokenizer file",
        ENCODINGS.join(", ")
    )]
    UnknownEncoding {
        /// The encoding.
        encoding: String,
    },
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

/// The models of a file, in its order.
pub(super) fn parse(text: &str) -> Result<Vec<Model>, ModelsError> {
    let fail = |span: Range<usize>, kind| Err(error(text, span.start, kind));
    let file: File = match ::toml::from_str(text) {
        Ok(file) => file,
        Err(bad) => {
            let kind = ModelsErrorKind::Syntax(bad.message().to_owned());
            return fail(bad.span().unwrap_or_default(), kind);
        }
    };
    // Names and aliases are one set, prefixes another: a model may be its own
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
                return fail(spelling.span(), ModelsErrorKind::Empty { key });
            }
            let seen = if key == "prefixes" { &mut beginnings } else { &mut whole };
            if !seen.insert(normal) {
                let spelling_ = spelling.get_ref().clone();
                return fail(spelling.span(), ModelsErrorKind::Duplicate { spelling: spelling_ });
            }
        }
        match entry.checked() {
            Ok(model) => models.push(model),
            Err((span, kind)) => return fail(span, kind),
        }
    }
    Ok(models)
}

impl Entry {
    fn checked(self) -> Result<Model, (Range<usize>, ModelsErrorKind)> {
        let name = self.name.into_inner();
        let window = *self.window.get_ref();
        if window == 0 {
            let kind = ModelsErrorKind::Zero { key: "window", model: name };
            return Err((self.window.span(), kind));
        }
        if let Some(output) = &self.output {
            let kind = match *output.get_ref() {
                0 => Some(ModelsErrorKind::Zero { key: "output", model: name.clone() }),
                output if output > window => {
                    Some(ModelsErrorKind::OutputOverWindow { model: name.clone(), output, window })
                }
                _ => None,
            };
            if let Some(kind) = kind {
                return Err((output.span(), kind));
            }
        }
        if let Some(encoding) = &self.encoding {
            let name = encoding.get_ref();
            // A misspelt encoding must not pass for a file.
            if !ENCODINGS.contains(&name.as_str()) && !name.contains(['.', '/', '\\']) {
                let kind = ModelsErrorKind::UnknownEncoding { encoding: name.clone() };
                return Err((encoding.span(), kind));
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
            assumed: false,
        })
    }
}

fn error(text: &str, at: usize, kind: ModelsErrorKind) -> ModelsError {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    ModelsError {
        kind,
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
