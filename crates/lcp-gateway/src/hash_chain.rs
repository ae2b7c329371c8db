//! The hashes of the beginnings of a request, which the next request of the session takes over.

use std::sync::Arc;

use crate::decisions::Hash;

/// The hashes of the beginnings of a request. Each depends on the one before.
#[derive(Debug, Default)]
pub(crate) struct HashChain {
    /// The hash of the head, and then that of the head with one more message each.
    pub(crate) beginnings: Vec<Hash>,
    /// The hash of the JSON string that is sent for each result.
    pub(crate) results: Vec<Hash>,
}

/// The hashes of the previous request of a session.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) chain: Arc<HashChain>,
    /// The number of leading messages that both requests share.
    pub(crate) messages: usize,
}

impl HashChain {
    /// Copies the hashes of the previous request from message `first` up to the first change. Returns the index
    /// of the next message to hash. `message_of` returns the message of a result, and `hash_of` the hash of the
    /// JSON string that is sent for it.
    pub(crate) fn extend_from(
        &mut self,
        Previous { chain, messages }: &Previous,
        first: usize,
        message_of: impl Fn(usize) -> Option<usize>,
        hash_of: impl Fn(usize) -> Hash,
    ) -> usize {
        if chain.beginnings.get(first) != self.beginnings.last() {
            return first;
        }
        let start = self.results.len();
        let is_same = |at: &usize| message_of(*at).is_some() && hash_of(*at) == chain.results[*at];
        let changed = start + (start..chain.results.len()).take_while(is_same).count();
        let end = message_of(changed).unwrap_or(*messages).min(*messages).max(first);
        let is_before = |at: &usize| message_of(*at) < Some(end);
        let results_end = start + (start..changed).take_while(is_before).count();
        self.results.extend_from_slice(&chain.results[start..results_end]);
        self.beginnings.extend_from_slice(&chain.beginnings[first + 1..=end]);
        end
    }
}
