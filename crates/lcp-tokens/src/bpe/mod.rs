//! Exact byte-pair counts: our own engine (RFC 0009).
//!
//! A text is cut into pieces as the encoding's pattern would cut it
//! ([`split`]), and each piece is merged as the encoding's vocabulary would
//! merge it ([`vocabulary`]). Nothing is built on the way: only counts are
//! added. Pieces that came before are remembered ([`cache`]).

mod cache;
mod classes;
mod split;
mod vocabulary;

use cache::Cache;
pub(crate) use split::Pattern;
use vocabulary::Vocabulary;

/// An encoding: how it cuts, and how it merges.
pub(crate) struct Bpe {
    pattern: Pattern,
    vocabulary: Vocabulary,
    /// Tells its cache from those of other encodings.
    id: usize,
}

impl Bpe {
    /// Loads an encoding from its packed vocabulary.
    pub(crate) fn new(pattern: Pattern, packed: &[u8], id: usize) -> Self {
        Self { pattern, vocabulary: Vocabulary::unpack(packed), id }
    }

    /// How many tokens `text` is. Takes time in proportion to its length, but
    /// for single pieces of many thousand bytes, which take n log n.
    pub(crate) fn count(&self, text: &str) -> usize {
        Cache::with(self.id, |cache| {
            let (bytes, mut at, mut tokens) = (text.as_bytes(), 0, 0);
            while at < bytes.len() {
                let end = self.pattern.next(bytes, at);
                tokens += cache.count(bytes, at, end, &self.vocabulary);
                at = end;
            }
            tokens
        })
    }
}
