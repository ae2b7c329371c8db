//! Byte-pair encoding, mainly for counting (RFC 0009).
//!
//! A text is split into pieces ([`pretokenize`]). The count of a piece is looked up
//! ([`piece_cache`]) or computed by merging ([`merge`], [`linear`]). Only [`Bpe::encode`] builds a
//! list of tokens.

mod linear;
mod merge;
mod piece_cache;
mod pretokenize;
mod tables;
#[cfg(test)]
mod tests;
mod trie;
mod truncate;
mod unicode;
mod vocabulary;

use std::convert::Infallible;
use std::ops::ControlFlow;

use piece_cache::PieceCache;
pub(crate) use pretokenize::Pattern;
pub(crate) use tables::Token;
use vocabulary::Vocabulary;
pub(crate) use vocabulary::{Data, hash};

/// An encoding: the pattern that splits text into pieces, and the vocabulary that merges them.
pub(crate) struct Bpe {
    pattern: Pattern,
    vocabulary: Vocabulary,
    /// The number of its piece cache.
    id: usize,
}

impl Bpe {
    /// Creates an encoding from its vocabulary.
    pub(crate) fn new(pattern: Pattern, data: Data, id: usize) -> Self {
        Self { pattern, vocabulary: Vocabulary::new(data), id }
    }

    /// Passes everything that determines the counts, except for the engine itself, to `write`.
    pub(crate) fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) {
        write(self.pattern.name().as_bytes());
        write(unicode::TABLES);
        write(self.vocabulary.packed());
    }

    /// Returns whether counts add up at [additive boundaries](crate::is_additive_boundary).
    pub(crate) const fn is_additive(&self) -> bool {
        !matches!(self.pattern, Pattern::Gpt2)
    }

    /// Returns the length in bytes of the longest token.
    const fn longest_token(&self) -> usize {
        self.vocabulary.longest()
    }

    /// Returns the number of tokens of `text`, in linear time and constant memory.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let ControlFlow::Continue(()) = self.for_each_piece(text, |_, count| {
            tokens += count;
            ControlFlow::<Infallible>::Continue(())
        });
        tokens
    }

    /// Returns the number of tokens if it is at most `limit`. The time depends only on the limit.
    pub(crate) fn count_up_to(&self, text: &str, limit: usize) -> Option<usize> {
        if text.len() > limit.saturating_mul(self.longest_token()) {
            return None;
        }
        let text = text.as_bytes();
        let mut tokens = 0;
        let done = PieceCache::with_local(self.id, |cache| {
            pretokenize::for_each_piece(self.pattern, text, |at, end| {
                // Counting of a long piece also stops at the limit.
                let count = if end - at > merge::LONG {
                    linear::count_up_to(&self.vocabulary, &text[at..end], limit - tokens)
                } else {
                    Some(cache.count(&self.vocabulary, text, at, end))
                };
                tokens += count.unwrap_or(limit + 1);
                if tokens > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        done.is_continue().then_some(tokens)
    }

    /// Calls `visit` with the end and the number of tokens of each piece, until it breaks.
    #[inline]
    fn for_each_piece<B>(
        &self,
        text: &str,
        mut visit: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let text = text.as_bytes();
        PieceCache::with_local(self.id, |cache| {
            pretokenize::for_each_piece(self.pattern, text, |at, end| {
                visit(end, cache.count(&self.vocabulary, text, at, end))
            })
        })
    }

    /// Returns the tokens of the piece at `at`.
    pub(crate) fn piece_tokens(&self, text: &str, at: usize) -> Vec<Token> {
        let end = self.pattern.piece_end(text.as_bytes(), at);
        let mut tokens = Vec::new();
        merge::append_tokens(&self.vocabulary, &text.as_bytes()[at..end], &mut tokens);
        tokens
    }

    /// Returns the tokens of `text` in linear time.
    pub(crate) fn encode(&self, text: &str) -> Vec<Token> {
        let text = text.as_bytes();
        let mut tokens = Vec::new();
        let ControlFlow::Continue(()) =
            pretokenize::for_each_piece(self.pattern, text, |start, end| {
                merge::append_tokens(&self.vocabulary, &text[start..end], &mut tokens);
                ControlFlow::<Infallible>::Continue(())
            });
        tokens
    }

    /// Returns the bytes of an ordinary token.
    pub(crate) fn token_bytes(&self, token: Token) -> Option<&[u8]> {
        let exists = token < self.vocabulary.len();
        // A special token has a number, but no bytes.
        exists.then(|| self.vocabulary.spelling(token)).filter(|bytes| !bytes.is_empty())
    }

    /// Returns the length in bytes of a prefix of `text` whose count does not depend on later text,
    /// and its count.
    ///
    /// The prefix contains all pieces but the last two. A piece depends on its own text, on the
    /// next piece (continued white space, letters without case) and on at most three bytes of the
    /// piece after that (a contraction, which would be part of the next piece).
    pub(crate) fn stable_prefix(&self, text: &str) -> (usize, usize) {
        // The start of the last piece and of the one before it, with the number of tokens before
        // each.
        let (mut last, mut before) = ((0, 0), (0, 0));
        let (mut at, mut tokens) = (0, 0);
        let ControlFlow::Continue(()) = self.for_each_piece(text, |end, count| {
            (before, last) = (last, (at, tokens));
            (at, tokens) = (end, tokens + count);
            ControlFlow::<Infallible>::Continue(())
        });
        before
    }
}
