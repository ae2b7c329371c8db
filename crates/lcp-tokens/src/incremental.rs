//! Counting a text while it grows.

use crate::TokenEstimator;

/// The count of a text that grows at its end: a reply as it arrives, a
/// transcript as it is written.
///
/// A [stable prefix](TokenEstimator::stable_prefix) is counted once and dropped. The rest is
/// kept and counted at each call of [`Self::count`]: with `Tiktoken` a word or two, or the
/// last piece where it does not end (letters without a space); with estimators without
/// stable prefixes the complete text. The count is always that of the complete text.
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
    /// The number of tokens of the stable prefix, which is not kept.
    prefix_tokens: u32,
    /// The rest.
    tail: String,
    /// The length of the tail at which its stable prefix is looked for again.
    recheck_at: usize,
}

/// A shorter tail is never looked at.
const TAIL_BYTES: usize = 256;

impl<E: TokenEstimator> IncrementalCounter<E> {
    /// A counter of an empty text.
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
        // A large text that was appended leaves no large buffer.
        self.tail.shrink_to(TAIL_BYTES);
        self.prefix_tokens = self.prefix_tokens.saturating_add(tokens);
        // A tail that does not settle is looked at less and less often, so
        // that a piece without an end takes linear time.
        self.recheck_at = (self.tail.len() * 2).max(TAIL_BYTES);
    }

    /// How many tokens all that was appended is.
    pub fn count(&self) -> u32 {
        self.prefix_tokens.saturating_add(self.estimator.estimate(&self.tail))
    }

    /// Begins anew with an empty text.
    pub fn clear(&mut self) {
        self.tail.clear();
        self.prefix_tokens = 0;
        self.recheck_at = TAIL_BYTES;
    }
}
