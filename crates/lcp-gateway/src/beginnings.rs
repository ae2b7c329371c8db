//! The beginnings of requests that a provider caches.

use crate::decisions::Hash;
use crate::request::{Outline, Request};

/// The state of a beginning at the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// It was sent, and the provider still keeps it.
    Warm,
    /// It was sent, and the provider no longer keeps it.
    Expired,
    /// It was never sent through this gateway.
    Unknown,
}

/// A beginning that the provider caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The hash of its content.
    pub hash: Hash,
    /// The time in seconds for which the provider keeps it after its last use.
    pub seconds: u32,
}

/// The hashes of the beginnings of a request: the head, and then the head with one more message each.
#[derive(Default)]
pub(crate) struct Beginnings(Vec<Hash>);

/// The time in seconds for which a beginning counts as warm after the provider may have forgotten it. A
/// request reaches the provider later than the gateway, and an edit of a warm prefix costs more than
/// a late one.
const MARGIN_SECONDS: u32 = 120;

impl Beginnings {
    /// Hashes the head, in which there are no results.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(request.model.as_bytes());
        for place in &request.head {
            hasher.update(&request.hash_part(place.clone()));
        }
        Self(vec![*hasher.finalize().as_bytes()])
    }

    /// Hashes the messages from `first` on. `result_hash` returns the hash of the JSON string that is
    /// sent for a result.
    pub(crate) fn hash_from(
        &mut self,
        first: usize,
        request: &Request<'_>,
        result_hash: impl Fn(usize) -> Hash,
    ) {
        self.0.truncate(first + 1);
        let Outline { messages, results, .. } = &request.outline;
        let mut result = results.partition_point(|it| it.message < first);
        for (at, message) in messages.iter().enumerate().skip(first) {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&self.0[at]).update(&message.hash);
            while results.get(result).is_some_and(|it| it.message == at) {
                hasher.update(&result_hash(result));
                result += 1;
            }
            self.0.push(*hasher.finalize().as_bytes());
        }
    }

    /// Returns the hashes: that of the head, and then one for each message.
    pub(crate) fn hashes(&self) -> &[Hash] {
        &self.0
    }

    /// Returns the number of messages in the warm prefix, or `None` if the beginning of this request
    /// was never sent.
    pub(crate) fn warm_messages(&self, cached: &dyn Fn(&Hash) -> Cached) -> Option<usize> {
        let mut is_known = false;
        for (messages, hash) in self.0.iter().enumerate().rev() {
            match cached(hash) {
                Cached::Warm => return Some(messages),
                // The head alone is that of every session.
                Cached::Expired => is_known |= messages > 0,
                Cached::Unknown => {}
            }
        }
        is_known.then_some(0)
    }

    /// Returns the beginnings that the provider caches: those until the last mark.
    pub(crate) fn cached(&self, request: &Request<'_>) -> Vec<Beginning> {
        let marked = request.outline.messages.iter().rposition(|message| message.has_mark);
        let count = match marked {
            _ if request.caches_all => self.0.len(),
            Some(last) => last + 2,
            None => usize::from(request.is_head_cached),
        };
        let seconds = request.cache_seconds + MARGIN_SECONDS;
        self.0[..count].iter().map(|hash| Beginning { hash: *hash, seconds }).collect()
    }
}
