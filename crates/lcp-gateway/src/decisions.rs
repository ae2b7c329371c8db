//! Decisions about tool results.

use std::collections::HashMap;

/// The hash of a text or of a beginning (BLAKE3).
pub type Hash = [u8; 32];

/// The key of a decision. It has no position, because messages move.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The id of the call.
    pub call: String,
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
    /// The text.
    pub text: String,
    /// The result that shows the lines that were replaced. A stub has none.
    pub target: Option<Key>,
}

/// The decisions about the results of a request.
pub type Decisions = HashMap<Key, Decision>;

impl Key {
    pub(crate) fn new(call: String, string: &str) -> Self {
        Self { call, text: *blake3::hash(string.as_bytes()).as_bytes() }
    }
}
