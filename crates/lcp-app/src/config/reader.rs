//! TOML with places: values by key, each error with line and column, and no key
//! that nobody asked for.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Range, RangeInclusive};

use lcp_tokens::ModelsError;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with an `lcp.toml`, and where; both count from 1, columns are
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What is wrong, with the key and the value.
    pub what: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at line {}, column {}", self.what, self.line, self.column)
    }
}

impl From<ModelsError> for ConfigError {
    fn from(error: ModelsError) -> Self {
        let ModelsError { message, line, column, .. } = error;
        Self { what: message, line, column }
    }
}

pub(super) type Result<T, E = ConfigError> = std::result::Result<T, E>;

/// A value and the line that it stands on.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its line, from 1.
    pub line: usize,
}

impl<T> Located<T> {
    /// The same place, with what this makes of the value.
    pub fn map<U>(&self, made: impl FnOnce(&T) -> U) -> Located<U> {
        Located { value: made(&self.value), line: self.line }
    }
}

/// A table that is read key by key.
pub(super) struct Section<'t> {
    text: &'t str,
    /// Its name with those above it, and a final point; empty at the top.
    path: String,
    /// What nobody has taken yet, in the order of the file.
    left: Vec<Entry<'t>>,
    /// The keys that were asked for: all that there can be.
    asked: Vec<&'static str>,
}

/// A key and its value.
pub(super) struct Entry<'t> {
    text: &'t str,
    /// The key, without those above it.
    pub(super) key: String,
    path: String,
    key_span: Range<usize>,
    value: Spanned<DeValue<'t>>,
}

/// A key, and its location.
pub(super) struct KeyLocation {
    path: String,
    line: usize,
    column: usize,
}

impl<'t> Section<'t> {
    /// The top of a file.
    pub(super) fn parse(text: &'t str) -> Result<Self> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().unwrap_or_default().start;
            error_at(text, at, error.message().to_owned())
        })?;
        Ok(Self::new(text, String::new(), table.into_inner()))
    }

    fn new(text: &'t str, path: String, table: DeTable<'t>) -> Self {
        let entry = |(key, value): (Spanned<toml::de::DeString<'t>>, Spanned<DeValue<'t>>)| {
            let key_span = key.span();
            let key = key.into_inner().into_owned();
            Entry { text, path: format!("{path}{}", quote_key(&key)), key, key_span, value }
        };
        let mut left: Vec<_> = table.into_iter().map(entry).collect();
        left.sort_by_key(|entry| entry.key_span.start);
        Self { text, path, left, asked: Vec::new() }
    }

    /// The value of a key, if the file has it.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Entry<'t>> {
        self.asked.push(key);
        let at = self.left.iter().position(|entry| entry.key == key)?;
        Some(self.left.remove(at))
    }

    /// All that is left, whatever its keys.
    pub(super) fn take_all(&mut self) -> Vec<Entry<'t>> {
        std::mem::take(&mut self.left)
    }

    /// The table of a key.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Option<Section<'t>>> {
        self.take(key).map(Entry::section).transpose()
    }

    /// A number of tokens, or of whatever is counted.
    pub(super) fn integer(&mut self, key: &'static str) -> Result<Option<Located<u32>>> {
        self.integer_in(key, 0..=u32::MAX)
    }

    /// Reads an integer within a range.
    pub(super) fn integer_in(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<Located<u32>>> {
        self.take(key).map(|entry| entry.integer_in(&range)).transpose()
    }

    /// A number for which `holds`; `requirement` says so in words.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        holds: fn(f64) -> bool,
        requirement: &str,
    ) -> Result<Option<Located<f64>>> {
        self.take(key).map(|entry| entry.number(holds, requirement)).transpose()
    }

    /// `true` or `false`.
    pub(super) fn boolean(&mut self, key: &'static str) -> Result<Option<Located<bool>>> {
        let Some(entry) = self.take(key) else { return Ok(None) };
        match entry.value.get_ref().as_bool() {
            Some(value) => Ok(Some(entry.location().located(value))),
            None => Err(entry.value_error("must be true or false")),
        }
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<()> {
        let Some(entry) = self.left.first() else { return Ok(()) };
        let hint = self.names(&entry.key);
        Err(error_at(
            self.text,
            entry.key_span.start,
            format!("unknown key {}; {hint}", entry.path),
        ))
    }

    /// The keys near one that there is not, or all.
    fn names(&self, key: &str) -> String {
        let near: Vec<_> = near(key, &self.asked);
        let names = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| format!("{}{name}", self.path)).collect();
            names.join(", ")
        };
        if near.is_empty() {
            format!("it may be {}", names(&self.asked))
        } else {
            format!("near it: {}", names(&near))
        }
    }
}

impl<'t> Entry<'t> {
    /// Returns the location of the key.
    pub(super) fn location(&self) -> KeyLocation {
        let (line, column) = position(self.text, self.key_span.start);
        KeyLocation { path: self.path.clone(), line, column }
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.get_ref().is_table()
    }

    pub(super) fn section(self) -> Result<Section<'t>> {
        match self.value.get_ref().as_table() {
            Some(table) => Ok(Section::new(self.text, self.path + ".", table.clone())),
            None => Err(self.value_error("must be a table")),
        }
    }

    fn integer_in(&self, range: &RangeInclusive<u32>) -> Result<Located<u32>> {
        let whole = self.value.get_ref().as_integer().and_then(|number| {
            let number = i128::from_str_radix(number.as_str(), number.radix()).ok()?;
            u32::try_from(number).ok().filter(|number| range.contains(number))
        });
        let (least, most) = range.clone().into_inner();
        whole.map(|whole| self.location().located(whole)).ok_or_else(|| {
            self.value_error(&format!("must be a whole number from {least} to {most}"))
        })
    }

    pub(super) fn number(&self, holds: fn(f64) -> bool, requirement: &str) -> Result<Located<f64>> {
        let number = match self.value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .ok()
                .and_then(|number| number.to_string().parse().ok()),
            DeValue::Float(number) => number.as_str().parse::<f64>().ok(),
            _ => None,
        };
        match number.filter(|&number| holds(number)) {
            Some(number) => Ok(self.location().located(number)),
            None => Err(self.value_error(requirement)),
        }
    }

    /// One of these words.
    pub(super) fn word<'w>(&self, words: &[&'w str]) -> Result<Located<&'w str>> {
        let word = self.text()?;
        if let Some(known) = words.iter().find(|known| **known == word.value) {
            return Ok(self.location().located(known));
        }
        let (last, others) = words.split_last().unwrap_or((&"", &[]));
        Err(self.value_error(&format!("must be {} or {last}", others.join(", "))))
    }

    pub(super) fn text(&self) -> Result<Located<String>> {
        match self.value.get_ref().as_str() {
            Some(text) => Ok(self.location().located(text.to_owned())),
            None => Err(self.value_error("must be a string")),
        }
    }

    /// What an array holds, each in its place.
    #[cfg(feature = "full")]
    pub(super) fn items(self) -> Result<Vec<Self>> {
        let Some(array) = self.value.get_ref().as_array() else {
            return Err(self.value_error("must be an array"));
        };
        let item = |value: &Spanned<DeValue<'t>>| Self {
            text: self.text,
            key: self.key.clone(),
            path: self.path.clone(),
            key_span: value.span(),
            value: value.clone(),
        };
        Ok(array.iter().map(item).collect())
    }

    /// Every table of an array that has a name must have this key.
    pub(super) fn all_have(&self, key: &str) -> Result<()> {
        for table in self.value.get_ref().as_array().into_iter().flatten() {
            let (at, table) = (table.span().start, table.get_ref().as_table());
            let name = table.filter(|table| !table.contains_key(key));
            let name = name.and_then(|table| table.get("name")?.get_ref().as_str());
            if let Some(name) = name {
                let what = format!("{} {name:?} has no {key}", self.path);
                return Err(error_at(self.text, at, what));
            }
        }
        Ok(())
    }

    /// Returns an error at the value, which it names.
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
            format!("{} is {value}, it {requirement}", self.path),
        )
    }
}

impl KeyLocation {
    /// A value of the key.
    pub(super) fn located<T>(&self, value: T) -> Located<T> {
        Located { value, line: self.line }
    }

    /// What is wrong with the key.
    pub(super) fn fail(&self, what: impl fmt::Display) -> ConfigError {
        let what = format!("{}: {what}", self.path);
        ConfigError { what, line: self.line, column: self.column }
    }
}

/// Quotes a key where TOML needs it: where it is no plain word.
fn quote_key(key: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_plain = !key.is_empty() && key.chars().all(plain);
    if is_plain { key.into() } else { format!("{key:?}").into() }
}

/// The names near one that there is not, the nearest first.
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
    ConfigError { what, line, column }
}

fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// Returns the value of a name.
pub(super) fn choice<T: Copy>(
    entry: &Entry<'_>,
    choices: &[(&'static str, T)],
) -> Result<Located<T>> {
    let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
    let word = entry.word(&names)?;
    let found = choices.iter().find(|(name, _)| *name == word.value);
    // `word` gives one of the names.
    let found = found.ok_or_else(|| entry.value_error(&format!("must be {}", names.join(", "))))?;
    Ok(entry.location().located(found.1))
}
