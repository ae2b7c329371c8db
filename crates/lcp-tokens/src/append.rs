//! Counting a text while it grows.

use crate::TokenEstimator;

/// The count of a text that grows at its end: a reply as it arrives, a
/// transcript as it is written.
///
/// What can no longer change is counted once and let go, so it costs little to
/// ask after every append, and memory is what is not settled yet: with
/// `Tiktoken` a word or two, with estimators that settle
/// nothing the whole text. The count is always that of the whole text at once.
///
/// ```
/// use lcp_tokens::{AppendCounter, HeuristicEstimator, TokenEstimator};
///
/// let mut counter = AppendCounter::new(HeuristicEstimator);
/// for part in ["ex", "act", "ly once"] {
///     counter.push(part);
/// }
/// assert_eq!(counter.count(), HeuristicEstimator.estimate("exactly once"));
/// ```
#[derive(Clone, Debug)]
pub struct AppendCounter<E> {
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

impl<E: TokenEstimator> AppendCounter<E> {
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
        let (bytes, tokens) = self.estimator.settled(&self.tail);
        self.tail.drain(..bytes);
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
