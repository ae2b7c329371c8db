//! Exact counts in OpenAI's encodings.

use std::fmt;

use crate::TokenEstimator;
use crate::bpe::{Bpe, Token};
use crate::vocabularies;

/// An encoding of OpenAI. A feature builds its vocabulary in; others are passed to
/// [`load_vocabulary`](crate::load_vocabulary) before their first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// GPT-4o, GPT-4.1, GPT-5, o1, o3, o4-mini.
    O200kBase,
    /// GPT-3.5-turbo, GPT-4.
    Cl100kBase,
    /// gpt-oss. Counts ordinary text as `o200k_base` does.
    O200kHarmony,
    /// Codex and the later GPT-3 models.
    P50kBase,
    /// GPT-2 and the first GPT-3 models.
    R50kBase,
}

impl Encoding {
    /// All encodings.
    pub const ALL: &[Self] =
        &[Self::O200kBase, Self::Cl100kBase, Self::O200kHarmony, Self::P50kBase, Self::R50kBase];

    /// Returns OpenAI's name of the encoding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::O200kHarmony => "o200k_harmony",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// Returns the encoding with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|encoding| encoding.name() == name)
    }

    /// Returns the name of the vocabulary. Both o200k encodings have the same tokens.
    #[must_use]
    pub const fn vocabulary(self) -> &'static str {
        match self {
            Self::O200kBase | Self::O200kHarmony => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
            Self::P50kBase => "p50k_base",
            Self::R50kBase => "r50k_base",
        }
    }

    /// Returns whether the vocabulary is built in or was loaded.
    #[must_use]
    pub fn is_available(self) -> bool {
        vocabularies::is_available(self.vocabulary())
    }

    /// Returns the engine, which is created at its first use.
    fn engine(self) -> &'static Bpe {
        vocabularies::engine(self.vocabulary())
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Exact counts in one of OpenAI's encodings (RFC 0009).
///
/// All text is ordinary text: `<|endoftext|>` in a file counts as its characters. The vocabulary is
/// loaded at the first count and shared. Counting takes linear time and constant memory for any
/// text.
///
/// ```
/// use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
///
/// let counter = Tiktoken::new(Encoding::O200kBase);
/// assert_eq!(counter.estimate("hello world"), 2);
/// assert!(counter.is_exact());
///
/// // What budgets ask:
/// assert_eq!(counter.count_up_to(&"hello world ".repeat(100_000), 1_000), None);
/// assert_eq!(counter.truncate_to("one two three four", 2), "one two");
/// assert_eq!(counter.truncate_front_to("one two three four", 2), " three four");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiktoken {
    encoding: Encoding,
}

impl Tiktoken {
    /// Creates a counter for an encoding, which must be [available](Encoding::is_available) when the
    /// counter is used. Otherwise, its methods panic.
    #[must_use]
    pub const fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }

    /// Returns the end of each token of `text` in bytes, for previews of token boundaries. A token
    /// can end within a character.
    ///
    /// ```
    /// use lcp_tokens::{Encoding, Tiktoken};
    ///
    /// let counter = Tiktoken::new(Encoding::O200kBase);
    /// let ends: Vec<usize> = counter.token_ends("let budget = 8000;").collect();
    /// assert_eq!(ends, [3, 10, 12, 13, 16, 17, 18]);
    /// ```
    #[must_use]
    pub fn token_ends(self, text: &str) -> TokenEnds<'_> {
        TokenEnds { engine: self.encoding.engine(), text, at: 0, piece: Vec::new() }
    }

    /// Returns the ids of the tokens of `text`, the same as `encode_ordinary` of OpenAI's
    /// `tiktoken`, in linear time.
    ///
    /// Text that looks like a special token is ordinary text: `<|endoftext|>` becomes the tokens of
    /// its characters. So untrusted text cannot contain special tokens.
    ///
    /// ```
    /// use lcp_tokens::{Encoding, Tiktoken};
    ///
    /// let tokenizer = Tiktoken::new(Encoding::O200kBase);
    /// let ids = tokenizer.encode("hello world");
    /// assert_eq!(ids, [24912, 2375]);
    /// assert_eq!(tokenizer.decode(&ids)?, b"hello world");
    /// # Ok::<(), lcp_tokens::UnknownToken>(())
    /// ```
    #[must_use]
    pub fn encode(self, text: &str) -> Vec<u32> {
        self.encoding.engine().encode(text)
    }

    /// Returns the bytes of tokens.
    ///
    /// A token can end within a character, so the bytes of a part of a text may not be UTF-8:
    ///
    /// ```
    /// use lcp_tokens::{Encoding, Tiktoken};
    ///
    /// let tokenizer = Tiktoken::new(Encoding::Cl100kBase);
    /// let ids = tokenizer.encode("🦀");
    /// assert_eq!(tokenizer.decode(&ids)?, "🦀".as_bytes());
    /// assert_eq!(tokenizer.decode(&ids[..1])?, b"\xF0\x9F");
    ///
    /// let error = tokenizer.decode(&[15339, 100_257]).unwrap_err();
    /// assert_eq!(error.to_string(), "cl100k_base has no ordinary token 100257, at position 1");
    /// # Ok::<(), lcp_tokens::UnknownToken>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`UnknownToken`] for an id that no ordinary token has. The ids of special tokens are
    /// such ids, because [`encode`](Self::encode) does not return them.
    pub fn decode(self, ids: &[u32]) -> Result<Vec<u8>, UnknownToken> {
        let engine = self.encoding.engine();
        let mut bytes = Vec::new();
        for (position, id) in ids.iter().copied().enumerate() {
            let unknown = UnknownToken { encoding: self.encoding, id, position };
            bytes.extend_from_slice(engine.token_bytes(id).ok_or(unknown)?);
        }
        Ok(bytes)
    }
}

/// The error of [`Tiktoken::decode`] for an id that no ordinary token has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{encoding} has no ordinary token {id}, at position {position}")]
pub struct UnknownToken {
    /// The encoding.
    pub encoding: Encoding,
    /// The id.
    pub id: u32,
    /// The index of the id in the list.
    pub position: usize,
}

/// The iterator of [`Tiktoken::token_ends`].
#[derive(Clone)]
pub struct TokenEnds<'t> {
    engine: &'static Bpe,
    text: &'t str,
    at: usize,
    /// The remaining tokens of this piece, last token first.
    piece: Vec<Token>,
}

impl Iterator for TokenEnds<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.piece.is_empty() && self.at < self.text.len() {
            self.piece = self.engine.piece_tokens(self.text, self.at);
            self.piece.reverse();
        }
        self.at += self.engine.token_bytes(self.piece.pop()?)?.len();
        Some(self.at)
    }
}

impl fmt::Debug for TokenEnds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenEnds").field("text", &self.text).field("at", &self.at).finish()
    }
}

impl TokenEstimator for Tiktoken {
    fn estimate(&self, text: &str) -> u32 {
        saturated(self.encoding.engine().count(text))
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn is_additive(&self) -> bool {
        self.encoding.engine().is_additive()
    }

    fn name(&self) -> &str {
        self.encoding.name()
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        let count = self.encoding.engine().count_up_to(text, limit as usize)?;
        Some(saturated(count))
    }

    fn truncate_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        &text[..self.encoding.engine().longest_prefix(text, tokens as usize)]
    }

    fn truncate_front_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        &text[self.encoding.engine().longest_suffix(text, tokens as usize)..]
    }

    fn stable_prefix(&self, text: &str) -> (usize, u32) {
        let (bytes, tokens) = self.encoding.engine().stable_prefix(text);
        (bytes, saturated(tokens))
    }

    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        self.encoding.engine().write_cache_key(write);
        true
    }
}

/// Converts a count to `u32`. A count that does not fit exceeds any budget.
fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
