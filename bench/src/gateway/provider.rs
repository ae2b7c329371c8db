//! The cache of a provider, and its bills (Anthropic's rules).

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use serde_json::Value;

use crate::harness::Result;

/// Prices in hundredths of an input token.
const INPUT: u64 = 100;
pub(super) const WRITTEN: u64 = 125;
pub(super) const READ: u64 = 10;

/// The time for which a beginning is kept after its last use, in seconds.
const SECONDS: u64 = 300;

/// The number of blocks before a mark in which an older beginning is found.
const LOOKBACK: usize = 20;

/// A provider.
#[derive(Default)]
pub(super) struct Provider {
    /// The end of the time of each beginning.
    kept: HashMap<u64, u64>,
    counts: HashMap<u64, u64>,
}

/// A request with its bill.
pub(super) struct Billed {
    /// The cost in hundredths of an input token.
    pub(super) cost: u64,
    /// The tokens of the request.
    pub(super) tokens: u64,
    /// All strings of the messages.
    pub(super) text: String,
}

impl Provider {
    /// Bills a request that is sent at a time in seconds.
    pub(super) fn send(&mut self, body: &[u8], now: u64) -> Result<Billed> {
        let mut body: Value = serde_json::from_slice(body)?;
        let mut all = String::new();
        let head = without_marks(&mut body["tools"]) | without_marks(&mut body["system"]);
        let mut parts = vec![Part::new(0, &[&body["tools"], &body["system"]], head, 1)];
        for message in body["messages"].as_array_mut().ok_or("no messages")? {
            let has_mark = without_marks(message);
            let blocks = message["content"].as_array().map_or(1, Vec::len);
            let before = parts.last().map_or(0, |part| part.hash);
            let part = Part::new(before, &[message], has_mark, blocks);
            all.push_str(&part.text);
            parts.push(part);
        }
        let counts: Vec<u64> = parts.iter().map(|part| self.count(part)).collect();
        let tokens: u64 = counts.iter().sum();
        let marks: Vec<usize> = (0..parts.len()).filter(|place| parts[*place].has_mark).collect();
        let read = marks.iter().rev().find_map(|mark| self.find(&parts[..=*mark], now));
        let read: u64 = counts[..read.unwrap_or(0)].iter().sum();
        let cached: u64 = counts[..marks.last().map_or(0, |last| last + 1)].iter().sum();
        for mark in marks {
            self.kept.insert(parts[mark].hash, now + SECONDS);
        }
        let cost = read * READ + (cached - read) * WRITTEN + (tokens - cached) * INPUT;
        Ok(Billed { cost, tokens, text: all })
    }

    /// Returns the number of parts that are read from the cache for the mark at the end of `parts`.
    fn find(&mut self, parts: &[Part], now: u64) -> Option<usize> {
        let mut blocks = 0;
        for (place, part) in parts.iter().enumerate().rev() {
            if blocks > LOOKBACK {
                return None;
            }
            blocks += part.blocks;
            if let Some(end) = self.kept.get_mut(&part.hash).filter(|end| **end > now) {
                *end = now + SECONDS;
                return Some(place + 1);
            }
        }
        None
    }

    fn count(&mut self, part: &Part) -> u64 {
        let count = || Tiktoken::new(Encoding::O200kBase).estimate(&part.text).into();
        *self.counts.entry(part.hash).or_insert_with(count)
    }
}

/// A part of a request: what comes before its messages, or a message.
struct Part {
    /// The hash of the request until its end.
    hash: u64,
    text: String,
    has_mark: bool,
    blocks: usize,
}

impl Part {
    fn new(before: u64, values: &[&Value], has_mark: bool, blocks: usize) -> Self {
        let mut hasher = DefaultHasher::new();
        before.hash(&mut hasher);
        let mut text = String::new();
        for value in values {
            value.to_string().hash(&mut hasher);
            add_strings(value, &mut text);
        }
        Self { hash: hasher.finish(), text, has_mark, blocks }
    }
}

/// Removes the marks of a value. Returns whether there was one.
fn without_marks(value: &mut Value) -> bool {
    match value {
        Value::Object(fields) => {
            let is_marked = fields.remove("cache_control").is_some();
            fields.values_mut().map(without_marks).fold(is_marked, |all, one| all | one)
        }
        Value::Array(values) => {
            values.iter_mut().map(without_marks).fold(false, |all, one| all | one)
        }
        _ => false,
    }
}

/// Adds all strings of a value as lines.
pub(super) fn add_strings(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => text.extend([string, "\n"]),
        Value::Array(values) => values.iter().for_each(|value| add_strings(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| add_strings(value, text)),
        _ => {}
    }
}
