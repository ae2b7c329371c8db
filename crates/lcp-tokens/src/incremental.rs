//! Counting a text while it grows.

use crate::TokenEstimator;

/// The count of a text that grows at its end: a reply as it arrives, a
/// transcript as it is written.
///
/// What can no longer change is counted once and let go. What is not settled yet
/// is kept, and counted each time that the count is asked for: with `Tiktoken`
/// that is a word or two, or the last piece where it does not end (letters
/// without a space); with estimators that settle nothing it is the whole text.
/// The count is always that of the whole text at once.
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
    /// Tokens of what is settled.
    settled: u32,
    /// What is not.
    tail: String,
    /// Bytes of the tail at which it is looked at again.
    look_at: usize,
}

/// Bytes of a tail that are kept without a look: less is not worth it.
const TAIL_BYTES: usize = 256;

impl<E: TokenEstimator> IncrementalCounter<E> {
    /// A counter of an empty text.
    pub const fn new(estimator: E) -> Self {
        Self { estimator, settled: 0, tail: String::new(), look_at: TAIL_BYTES }
    }

    /// Appends `text`.
    pub fn push(&mut self, text: &str) {
        self.tail.push_str(text);
        if self.tail.len() < self.look_at {
            return;
        }
        let (bytes, tokens) = self.estimator.stable_prefix(&self.tail);
        self.tail.drain(..bytes);
        // A large text that was appended leaves no large buffer.
        self.tail.shrink_to(TAIL_BYTES);
        self.settled = self.settled.saturating_add(tokens);
        // A tail that does not settle is looked at less and less often, so
        // that a piece without an end takes linear time.
        self.look_at = (self.tail.len() * 2).max(TAIL_BYTES);
    }

    /// How many tokens all that was appended is.
    pub fn count(&self) -> u32 {
        self.settled.saturating_add(self.estimator.estimate(&self.tail))
    }

    /// Begins anew with an empty text.
    pub fn clear(&mut self) {
        self.tail.clear();
        self.settled = 0;
        self.look_at = TAIL_BYTES;
    }
}
