//! A TOML reader that rejects unknown keys and gives errors with line and column.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use lcp_tokens::ModelsError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::names::{self, Names};

/// The beginning of the error for a key that does not exist.
pub(super) const UNKNOWN_KEY: &str = "unknown key";

/// The maximum number of keys in the error for an unknown key.
const LISTED_KEYS_MAX: usize = 8;

/// An error in an `lcp.toml`, with its line and column. Both count from 1; columns are characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The error, with the key and the value.
    pub message: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at line {}, column {}", self.message, self.line, self.column)
    }
}

impl From<ModelsError> for ConfigError {
    fn from(error: ModelsError) -> Self {
        let ModelsError { message, line, column, .. } = error;
        Self { message, line, column }
    }
}

pub(super) type Result<T, E = ConfigError> = std::result::Result<T, E>;

/// The offsets of the keys that were read.
pub(super) type Offsets = RefCell<BTreeMap<String, usize>>;

/// Returns the lines of the keys that were read.
pub(super) fn to_lines(text: &str, offsets: Offsets) -> BTreeMap<String, usize> {
    offsets.into_inner().into_iter().map(|(key, at)| (key, position(text, at).0)).collect()
}

/// A table that is read key by key.
pub(super) struct Section<'t> {
    text: &'t str,
    offsets: &'t Offsets,
    /// The full name of the table with a final dot. At the top level it is empty.
    path: String,
    /// The entries that were not taken yet, in file order.
    left: Vec<Entry<'t>>,
    /// The keys that were requested, which are all valid keys.
    asked: Vec<&'static str>,
}

/// A key and its value.
pub(super) struct Entry<'t> {
    text: &'t str,
    offsets: &'t Offsets,
    /// The key, without the name of its table.
    pub(super) key: String,
    path: String,
    key_span: Range<usize>,
    value: Spanned<DeValue<'t>>,
}

impl<'t> Section<'t> {
    /// Parses a file.
    pub(super) fn parse(text: &'t str, offsets: &'t Offsets) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or_default().start;
            error_at(text, at, error.message().to_owned())
        })?;
        Ok(Self::new(text, offsets, String::new(), table.into_inner()))
    }

    fn new(text: &'t str, offsets: &'t Offsets, path: String, table: DeTable<'t>) -> Self {
        let entry = |(key, value): (Spanned<toml::de::DeString<'t>>, Spanned<DeValue<'t>>)| {
            let key_span = key.span();
            let key = key.into_inner().into_owned();
            let path = format!("{path}{}", quote_key(&key));
            Entry { text, offsets, key, path, key_span, value }
        };
        let mut left: Vec<_> = table.into_iter().map(entry).collect();
        left.sort_by_key(|entry| entry.key_span.start);
        Self { text, offsets, path, left, asked: Vec::new() }
    }

    /// Takes the entry of a key, if the file has it.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Entry<'t>> {
        self.asked.push(key);
        let at = self.left.iter().position(|entry| entry.key == key)?;
        let entry = self.left.remove(at);
        self.offsets.borrow_mut().insert(entry.path.clone(), entry.key_span.start);
        Some(entry)
    }

    /// Returns all remaining entries.
    pub(super) fn into_entries(self) -> Vec<Entry<'t>> {
        self.left
    }

    /// Reads a value with `read`.
    fn read<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&Entry<'t>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.take(key).map(|entry| read(&entry)).transpose()
    }

    /// Reads a table.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Option<Section<'t>>> {
        self.read(key, Entry::section)
    }

    /// Reads a count, for example of tokens.
    pub(super) fn integer(&mut self, key: &'static str) -> Result<Option<u32>> {
        self.integer_in(key, 0..=u32::MAX)
    }

    /// Reads an integer within a range.
    pub(super) fn integer_in(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>> {
        self.read(key, |entry| entry.integer_in(&range))
    }

    /// Reads a number for which `holds` returns `true`. `requirement` is the error message.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        holds: fn(f64) -> bool,
        requirement: &str,
    ) -> Result<Option<f64>> {
        self.read(key, |entry| entry.number(holds, requirement))
    }

    /// Reads `true` or `false`.
    pub(super) fn boolean(&mut self, key: &'static str) -> Result<Option<bool>> {
        self.read(key, |entry| {
            let value = entry.value.get_ref().as_bool();
            value.ok_or_else(|| entry.value_error("must be true or false"))
        })
    }

    /// Reads a value by its name.
    pub(super) fn choice<T: Copy + PartialEq>(
        &mut self,
        key: &'static str,
        names: &Names<T>,
    ) -> Result<Option<T>> {
        self.read(key, |entry| entry.choice(names))
    }

    /// Checks that no entry remains.
    pub(super) fn finish(self) -> Result<()> {
        let Some(entry) = self.left.first() else { return Ok(()) };
        let near = near(&entry.key, &self.asked);
        let (intro, names) = match near.as_slice() {
            [] if self.asked.len() > LISTED_KEYS_MAX => ("", [].as_slice()),
            [] => ("; expected one of ", self.asked.as_slice()),
            near => ("; similar: ", near),
        };
        let names: Vec<_> = names.iter().map(|name| format!("{}{name}", self.path)).collect();
        let what = format!("{UNKNOWN_KEY} {}{intro}{}", entry.path, names.join(", "));
        Err(error_at(self.text, entry.key_span.start, what))
    }
}

impl<'t> Entry<'t> {
    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub(super) fn section(&self) -> Result<Section<'t>> {
        match self.value.get_ref().as_table() {
            Some(table) => {
                let path = format!("{}.", self.path);
                Ok(Section::new(self.text, self.offsets, path, table.clone()))
            }
            None => Err(self.value_error("must be a table")),
        }
    }

    fn integer_in(&self, range: &RangeInclusive<u32>) -> Result<u32> {
        let whole = self.value.get_ref().as_integer().and_then(|number| {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            u32::try_from(number).ok().filter(|number| range.contains(number))
        });
        let (least, most) = (range.start(), range.end());
        whole.ok_or_else(|| self.value_error(&format!("must be an integer from {least} to {most}")))
    }

    pub(super) fn number(&self, holds: fn(f64) -> bool, requirement: &str) -> Result<f64> {
        let number = match self.value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .and_then(|number| number.to_string().parse().ok()),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        number.filter(|&number| holds(number)).ok_or_else(|| self.value_error(requirement))
    }

    /// Reads a value by its name. Former names are valid, but errors do not list them.
    pub(super) fn choice<T: Copy + PartialEq>(&self, names: &Names<T>) -> Result<T> {
        let name = self.text()?;
        names::value_of(names, &name).ok_or_else(|| {
            let current = names::current(names);
            let (last, others) = current.split_last().unwrap_or((&"", &[]));
            self.value_error(&format!("must be {} or {last}", others.join(", ")))
        })
    }

    pub(super) fn text(&self) -> Result<String> {
        let text = self.value.get_ref().as_str();
        text.map(str::to_owned).ok_or_else(|| self.value_error("must be a string"))
    }

    /// Returns the items of an array, each with its location.
    #[cfg(feature = "messages")]
    pub(super) fn items(self) -> Result<Vec<Self>> {
        let Some(array) = self.value.get_ref().as_array() else {
            return Err(self.value_error("must be an array"));
        };
        let item = |value: &Spanned<DeValue<'t>>| Self {
            text: self.text,
            offsets: self.offsets,
            key: self.key.clone(),
            path: self.path.clone(),
            key_span: value.span(),
            value: value.clone(),
        };
        Ok(array.iter().map(item).collect())
    }

    /// Checks that every named table of an array has this key.
    pub(super) fn all_have(&self, key: &str) -> Result<()> {
        for table in self.value.get_ref().as_array().into_iter().flatten() {
            let (at, table) = (table.span().start, table.get_ref().as_table());
            let name = table.filter(|table| !table.contains_key(key));
            let name = name.and_then(|table| table.get("name")?.get_ref().as_str());
            if let Some(name) = name {
                let what = format!("{} {name:?}: missing key {key}", self.path);
                return Err(error_at(self.text, at, what));
            }
        }
        Ok(())
    }

    /// Returns an error at the key.
    pub(super) fn key_error(&self, what: impl fmt::Display) -> ConfigError {
        error_at(self.text, self.key_span.start, format!("{}: {what}", self.path))
    }

    /// Returns an error at the value, with the value.
    pub(super) fn value_error(&self, requirement: &str) -> ConfigError {
        let value = match self.value.get_ref() {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        error_at(
            self.text,
            self.value.span().start,
            format!("{} {requirement}, got {value}", self.path),
        )
    }
}

/// Quotes a key unless it is a bare key of TOML.
fn quote_key(key: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = !key.is_empty() && key.chars().all(plain);
    if is_plain { key.into() } else { format!("{key:?}").into() }
}

/// Returns the known names that are similar to a name, most similar first.
pub(super) fn near<'n>(name: &str, known: &[&'n str]) -> Vec<&'n str> {
    let most = (name.chars().count() / 3).max(2);
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .map(|known| (strsim::damerau_levenshtein(name, known), *known))
        .filter(|(distance, _)| *distance <= most)
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).collect()
}

/// Returns an error at a byte of the text.
fn error_at(text: &str, at: usize, what: String) -> ConfigError {
    let (line, column) = position(text, at);
    ConfigError { message: what, line, column }
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
