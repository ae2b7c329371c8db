//! Counts a text while it grows.

use crate::TokenEstimator;

/// Counts a text that grows at its end, such as a reply that is being received or a transcript that
/// is being written.
///
/// A [stable prefix](TokenEstimator::stable_prefix) is counted once and dropped. Each call of
/// [`Self::count`] counts the rest. With `Tiktoken` the rest is a word or two, or the whole last
/// piece if it does not end (letters without a space). With estimators without stable prefixes it
/// is the complete text. The count is always that of the complete text.
///
/// ```
/// use lcp_tokens::{IncrementalCounter, HeuristicEstimator, TokenEstimator};
///
/// let mut counter = IncrementalCounter::new(HeuristicEstimator);
/// for part in ["ex", "act", "ly once"] {
///     counter.push(part);
/// }
/// assert_eq!(counter.count(), HeuristicEstimator.estimate("exactly once"));
/// ```
#[derive(Clone, Debug)]
pub struct IncrementalCounter<E> {
    estimator: E,
    /// The number of tokens of the stable prefix, whose text is dropped.
    prefix_tokens: u32,
    /// The text after the stable prefix.
    tail: String,
    /// The length of the tail at which the next stable prefix is computed.
    recheck_at: usize,
}

/// The minimum length in bytes of a tail whose stable prefix is computed.
const TAIL_BYTES: usize = 256;

impl<E: TokenEstimator> IncrementalCounter<E> {
    /// Creates a counter for an empty text.
    pub const fn new(estimator: E) -> Self {
        Self { estimator, prefix_tokens: 0, tail: String::new(), recheck_at: TAIL_BYTES }
    }

    /// Appends `text`.
    pub fn push(&mut self, text: &str) {
        self.tail.push_str(text);
        if self.tail.len() < self.recheck_at {
            return;
        }
        let (bytes, tokens) = self.estimator.stable_prefix(&self.tail);
        self.tail.drain(..bytes);
        // Release the memory of a large appended text.
        self.tail.shrink_to(TAIL_BYTES);
        self.prefix_tokens = self.prefix_tokens.saturating_add(tokens);
        // Without a stable prefix the interval doubles, so that a piece without an end takes linear
        // time.
        self.recheck_at = (self.tail.len() * 2).max(TAIL_BYTES);
    }

    /// Returns the number of tokens of the complete text.
    pub fn count(&self) -> u32 {
        self.prefix_tokens.saturating_add(self.estimator.estimate(&self.tail))
    }

    /// Resets the counter to an empty text.
    pub fn clear(&mut self) {
        self.tail.clear();
        self.prefix_tokens = 0;
        self.recheck_at = TAIL_BYTES;
    }
}
