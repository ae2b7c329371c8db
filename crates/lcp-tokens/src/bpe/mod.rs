//! Byte-pair encoding, counting only (RFC 0009).
//!
//! A text is cut into pieces ([`pieces`], by [`window`] and [`split`]), a
//! piece is looked up among those that came before ([`cache`]), and what is
//! not there is merged ([`merge`], [`linear`]). No list of tokens is built.

mod cache;
mod classes;
mod cut;
mod linear;
mod merge;
mod pieces;
mod split;
mod trie;
mod vocabulary;
mod window;

use std::convert::Infallible;
use std::ops::ControlFlow;

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
    pub(crate) fn new(pattern: Pattern, packed: &'static [u8], id: usize) -> Self {
        Self { pattern, vocabulary: Vocabulary::unpack(packed), id }
    }

    /// Gives `write` all that decides the counts, but for this engine itself.
    pub(crate) fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) {
        write(self.pattern.name().as_bytes());
        write(classes::TABLES);
        write(self.vocabulary.packed());
    }

    /// Whether a run of white space is cut at its last newline, so that counts
    /// add up at joins.
    pub(crate) const fn cuts_at_newlines(&self) -> bool {
        !matches!(self.pattern, Pattern::Gpt2)
    }

    /// Bytes of the longest token: a text of more than `n` times as many bytes
    /// is more than `n` tokens.
    const fn longest_token(&self) -> usize {
        self.vocabulary.longest()
    }

    /// How many tokens `text` is, in time that grows with its length only, and
    /// memory that does not grow with it.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut tokens = 0;
        let ControlFlow::Continue(()) = self.each_piece(text, |_, count| {
            tokens += count;
            ControlFlow::<Infallible>::Continue(())
        });
        tokens
    }

    /// How many tokens `text` is if that is `limit` at most, in time that grows
    /// with the limit only.
    pub(crate) fn count_up_to(&self, text: &str, limit: usize) -> Option<usize> {
        if text.len() > limit.saturating_mul(self.longest_token()) {
            return None;
        }
        let text = text.as_bytes();
        let mut tokens = 0;
        let done = Cache::with(self.id, |cache| {
            pieces::each(self.pattern, text, |at, end| {
                // A long piece is not counted to its end either.
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

    /// Calls `visit` with where each piece ends and how many tokens it is, in
    /// turn, until it breaks.
    #[inline]
    fn each_piece<B>(
        &self,
        text: &str,
        mut visit: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let text = text.as_bytes();
        Cache::with(self.id, |cache| {
            pieces::each(self.pattern, text, |at, end| {
                visit(end, cache.count(&self.vocabulary, text, at, end))
            })
        })
    }

    /// The tokens of the piece that begins at `at`: their lengths in bytes, the
    /// last one first.
    pub(crate) fn piece_at(&self, text: &str, at: usize) -> Vec<u8> {
        let end = self.pattern.next(text.as_bytes(), at);
        let mut lengths = merge::lengths(&self.vocabulary, &text.as_bytes()[at..end]);
        lengths.reverse();
        lengths
    }

    /// How many bytes at the start of `text` count by themselves whatever is
    /// appended to it, and how many tokens they are: all pieces but the last
    /// two. A piece is decided by what is in it, by the next one (white space
    /// that goes on, letters that may be of either case) and by three bytes at
    /// most of the one after (a contraction), which would be part of the next.
    pub(crate) fn stable_prefix(&self, text: &str) -> (usize, usize) {
        // Where the last piece begins, where the one before does, and the
        // tokens before each.
        let (mut last, mut before) = ((0, 0), (0, 0));
        let (mut at, mut tokens) = (0, 0);
        let ControlFlow::Continue(()) = self.each_piece(text, |end, count| {
            (before, last) = (last, (at, tokens));
            (at, tokens) = (end, tokens + count);
            ControlFlow::<Infallible>::Continue(())
        });
        before
    }
}
