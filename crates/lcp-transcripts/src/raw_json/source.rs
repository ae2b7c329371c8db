//! The text of an input, with the values and lines in it.

use std::rc::Rc;

use lcp_types::limits::TRANSCRIPT_DEPTH_MAX;
use serde_json::value::RawValue;

use super::is_object;
use crate::{Error, ErrorKind, Result};

/// The text of an input.
pub(crate) struct Source<'a> {
    text: &'a str,
    pub(crate) lines: LineIndex,
}

/// An index of the lines of a text. It finds a part of the text by its address.
#[derive(Clone)]
pub(crate) struct LineIndex {
    /// The address of the text.
    base: usize,
    /// The byte offset of each line except the first.
    starts: Rc<[usize]>,
}

impl LineIndex {
    /// Returns the line number of a part of the text, counted from 1.
    pub(crate) fn line(&self, part: &str) -> usize {
        self.line_and_column(self.offset(part)).0
    }

    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.base)
    }

    /// Returns the line and column of a byte offset, counted from 1.
    fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at)).copied().unwrap_or(0);
        (line + 1, offset.saturating_sub(start) + 1)
    }
}

/// The values of an input: a list, another value, or one value per line.
pub(crate) enum Document<'a, L> {
    List(Vec<&'a RawValue>),
    One(&'a RawValue),
    Lines(L),
}

/// A line that is not blank, with its value.
pub(crate) struct Line<'a, V = &'a RawValue> {
    pub(crate) text: &'a str,
    pub(crate) value: Result<V>,
}

/// A value that is parsed from a line.
pub(crate) trait ParseLine<'a>: Sized {
    fn parse(json: &'a str) -> serde_json::Result<Self>;

    fn from_value(value: &'a RawValue) -> Self;
}

impl<'a> ParseLine<'a> for &'a RawValue {
    fn parse(json: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(json)
    }

    fn from_value(value: &'a RawValue) -> Self {
        value
    }
}

impl<'a> Source<'a> {
    /// Reads the input as text and removes its byte order mark.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.split(|byte| *byte == b'\n').count();
            let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            Error::at(ErrorKind::NotUtf8, line, before.len() - start + 1)
        })?;
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1).collect();
        Ok(Self { text, lines: LineIndex { base: text.as_ptr() as usize, starts } })
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// Parses a part of this text as a JSON value.
    pub(crate) fn value(&self, part: &'a str) -> Result<&'a RawValue> {
        self.parse(part)
    }

    fn parse<V: ParseLine<'a>>(&self, part: &'a str) -> Result<V> {
        let value = V::parse(part).map_err(|error| {
            let (first, column) = self.lines.line_and_column(self.lines.offset(part));
            let column =
                if error.line() > 1 { error.column() } else { error.column() + column - 1 };
            let message = error.to_string();
            // The error has its own position, relative to the whole input.
            let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
            Error::at(ErrorKind::NotJson(message), first + error.line().saturating_sub(1), column)
        })?;
        self.check_depth(part)?;
        Ok(value)
    }

    fn check_depth(&self, json: &str) -> Result<()> {
        let Some(at) = too_deep(json) else { return Ok(()) };
        let (line, column) = self.lines.line_and_column(self.lines.offset(json) + at);
        Err(Error::at(ErrorKind::TooDeep { max: TRANSCRIPT_DEPTH_MAX }, line, column))
    }

    /// Returns the items of a list, any other single value, or one value per line if the first line is an
    /// object.
    pub(crate) fn document(&self) -> Result<Document<'a, impl Iterator<Item = Line<'a>>>> {
        if self.text.trim_start().starts_with('[')
            && let Ok(list) = serde_json::from_str(self.text)
        {
            self.check_depth(self.text)?;
            return Ok(Document::List(list));
        }
        match self.value(self.text) {
            Ok(value) => Ok(Document::One(value)),
            Err(_) if self.has_lines() => Ok(Document::Lines(self.lines())),
            Err(error) => Err(error),
        }
    }

    /// Returns whether there are several lines, and the first is an object.
    fn has_lines(&self) -> bool {
        let mut lines = self.lines::<&RawValue>();
        let starts_with_object = lines.next().is_some_and(|line| line.value.is_ok_and(is_object));
        starts_with_object && lines.next().is_some()
    }

    /// Returns the items if the text is a list, the value if it is one object, else the lines.
    pub(crate) fn lines_or_items<V: ParseLine<'a>>(&self) -> Vec<Line<'a, V>> {
        let items = match self.document() {
            Ok(Document::List(items)) => items,
            Ok(Document::One(value)) => vec![value],
            _ => return self.lines().collect(),
        };
        let line = |item: &'a RawValue| Line { text: item.get(), value: Ok(V::from_value(item)) };
        items.into_iter().map(line).collect()
    }

    /// Returns the lines that are not blank. Each line is parsed only when the iterator reaches it.
    fn lines<V: ParseLine<'a>>(&self) -> impl Iterator<Item = Line<'a, V>> {
        let texts = self.text.lines().filter(|line| !line.trim().is_empty());
        texts.map(|text| Line { text, value: self.parse(text) })
    }
}

/// Returns the byte offset at which the JSON exceeds the maximum depth.
pub(super) fn too_deep(json: &str) -> Option<usize> {
    // Few values have enough brackets, including those in strings. Counting them takes a fraction of the time.
    let brackets =
        |part: &[u8]| -> u8 { part.iter().map(|byte| u8::from(matches!(byte, b'[' | b'{'))).sum() };
    // Sums of `u8` are vectorized best. A chunk of 255 bytes cannot overflow one.
    let parts = json.as_bytes().chunks(usize::from(u8::MAX));
    let brackets: usize = parts.map(|part| usize::from(brackets(part))).sum();
    if brackets <= TRANSCRIPT_DEPTH_MAX {
        return None;
    }
    let (mut depth, mut at) = (0usize, 0);
    while let Some(byte) = json.as_bytes().get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(json.as_bytes(), at),
            b'[' | b'{' => {
                depth += 1;
                if depth > TRANSCRIPT_DEPTH_MAX {
                    return Some(at - 1);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Returns the offset after the closing quote of the string that contains `from`, or the length of `json`
/// if the string does not end.
fn string_end(json: &[u8], mut from: usize) -> usize {
    while let Some(rest) = json.get(from..)
        && let Some(found) = memchr::memchr2(b'"', b'\\', rest)
    {
        from += found + 1;
        if json[from - 1] == b'"' {
            return from;
        }
        // Skip the escaped character.
        from += 1;
    }
    json.len()
}
