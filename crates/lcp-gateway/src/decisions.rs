//! Decisions about tool results.

use std::sync::Arc;

use crate::json::encode;

/// The hash of a text or of a beginning (BLAKE3).
pub type Hash = [u8; 32];

/// The key of a decision. It has no position, because messages move.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The id of the call.
    pub call: Arc<str>,
    /// The hash of the result's text, as it is written in JSON.
    pub text: Hash,
}

/// A decision about a tool result, which all later requests repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The result stays as it is. A later edit can change that.
    Keep,
    /// Another text replaces the result.
    Replace(Replacement),
}

impl Decision {
    /// Returns whether a stub replaces the result.
    pub(crate) const fn is_stub(&self) -> bool {
        matches!(self, Self::Replace(Replacement { target: None, .. }))
    }

    /// Returns the replacement, or `None` if the result stays.
    pub(crate) const fn replacement(&self) -> Option<&Replacement> {
        match self {
            Self::Replace(replacement) => Some(replacement),
            Self::Keep => None,
        }
    }

    /// Returns the result to which a reference points.
    pub(crate) const fn target(&self) -> Option<&Key> {
        match self {
            Self::Replace(replacement) => replacement.target.as_ref(),
            Self::Keep => None,
        }
    }
}

/// The text that replaces a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    text: Arc<str>,
    /// The text as it is written in JSON. Each request of a session needs it and its hash.
    json: Arc<str>,
    /// The hash of `json`.
    hash: Hash,
    /// The result that shows the lines that were replaced. A stub has none.
    pub target: Option<Key>,
}

impl Replacement {
    pub(crate) fn new(text: impl Into<Arc<str>>, target: Option<Key>) -> Self {
        let text = text.into();
        let json: Arc<str> = encode(&text).into();
        let hash = *blake3::hash(json.as_bytes()).as_bytes();
        Self { text, json, hash, target }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) const fn json(&self) -> &Arc<str> {
        &self.json
    }

    pub(crate) const fn hash(&self) -> &Hash {
        &self.hash
    }
}

impl Key {
    pub(crate) fn new(call: Arc<str>, string: &str) -> Self {
        Self { call, text: *blake3::hash(string.as_bytes()).as_bytes() }
    }
}
