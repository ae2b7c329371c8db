//! The beginnings of requests that a provider caches.

use std::sync::Arc;

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

/// The beginnings of a request: the head, and then the head with one more message each.
#[derive(Debug, Default)]
pub(crate) struct Beginnings {
    /// The hash of each.
    hashes: Vec<Hash>,
    /// The hash of the JSON string that is sent for each result.
    results: Vec<Hash>,
}

/// The time in seconds for which a beginning counts as warm after the provider may have forgotten it. A
/// request reaches the provider later than the gateway, and an edit of a warm prefix costs more than
/// a late one.
const MARGIN_SECONDS: u32 = 120;

/// The beginnings of the previous request of a session.
#[derive(Clone, Debug)]
pub(crate) struct Previous {
    pub(crate) beginnings: Arc<Beginnings>,
    /// The number of messages that both requests begin with.
    pub(crate) messages: usize,
}

impl Beginnings {
    /// Hashes the head, in which there are no results.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(request.model.as_bytes());
        for place in &request.head {
            hasher.update(&request.hash_part(place.clone()));
        }
        Self { hashes: vec![*hasher.finalize().as_bytes()], results: Vec::new() }
    }

    /// Hashes the messages from `first` on. Those that are the same as in the previous request of the
    /// session are known. `result_hash` returns the hash of the JSON string that is sent for a result.
    pub(crate) fn hash_from(
        &mut self,
        first: usize,
        request: &Request<'_>,
        result_hash: impl Fn(usize) -> Hash,
    ) {
        self.hashes.truncate(first + 1);
        let Outline { messages, results, .. } = &request.outline;
        self.results.truncate(results.partition_point(|it| it.message < first));
        let first = self.add_known(first, request, &result_hash);
        for (at, message) in messages.iter().enumerate().skip(first) {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&self.hashes[at]).update(&message.hash);
            while results.get(self.results.len()).is_some_and(|it| it.message == at) {
                let hash = result_hash(self.results.len());
                hasher.update(&hash);
                self.results.push(hash);
            }
            self.hashes.push(*hasher.finalize().as_bytes());
        }
    }

    /// Adds the hashes from message `first` on that are those of the previous request. Returns the index of
    /// the message after them.
    fn add_known(
        &mut self,
        first: usize,
        request: &Request<'_>,
        result_hash: impl Fn(usize) -> Hash,
    ) -> usize {
        let Outline { results, previous, .. } = &request.outline;
        let Some(Previous { beginnings, messages }) = previous else { return first };
        if beginnings.hashes.get(first) != self.hashes.last() {
            return first;
        }
        let start = self.results.len();
        let hashes = beginnings.results.iter().take(results.len()).enumerate().skip(start);
        let same = hashes.take_while(|(at, hash)| result_hash(*at) == **hash).count();
        let changed = results.get(start + same).map_or(*messages, |it| it.message);
        let end = changed.min(*messages).max(first);
        let results_end = results.partition_point(|it| it.message < end);
        self.results.extend_from_slice(&beginnings.results[start..results_end]);
        self.hashes.extend_from_slice(&beginnings.hashes[first + 1..=end]);
        end
    }

    /// Returns the hashes: that of the head, and then one for each message.
    pub(crate) fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    /// Returns the number of messages in the warm prefix, or `None` if the beginning of this request
    /// was never sent.
    pub(crate) fn warm_messages(&self, cached: &dyn Fn(&Hash) -> Cached) -> Option<usize> {
        let mut is_known = false;
        for (messages, hash) in self.hashes.iter().enumerate().rev() {
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
            _ if request.caches_all => self.hashes.len(),
            Some(last) => last + 2,
            None => usize::from(request.is_head_cached),
        };
        let seconds = request.cache_seconds + MARGIN_SECONDS;
        self.hashes[..count].iter().map(|hash| Beginning { hash: *hash, seconds }).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::request::Api;

    /// Returns a request with results of these texts.
    fn body(results: &[u8]) -> String {
        let result = |(at, text): (usize, &u8)| {
            let call = format!(
                "{{\"id\":\"c{at}\",\"function\":{{\"name\":\"f\",\"arguments\":\"{{}}\"}}}}"
            );
            format!(
                "{{\"role\":\"assistant\",\"tool_calls\":[{call}]}},\
                 {{\"role\":\"tool\",\"tool_call_id\":\"c{at}\",\"content\":\"{text}\"}}"
            )
        };
        let results: Vec<_> = results.iter().enumerate().map(result).collect();
        format!(
            "{{\"model\":\"m\",\"messages\":[{{\"role\":\"user\",\"content\":\"go\"}},{}]}}",
            results.join(",")
        )
    }

    /// Hashes the beginnings of a request whose results are sent as these texts.
    fn hashes(request: &Request<'_>, sent: &[u8]) -> Beginnings {
        let mut beginnings = Beginnings::new(request);
        beginnings.hash_from(0, request, |at| [sent[at]; 32]);
        beginnings
    }

    proptest! {
        #[test]
        fn known_beginnings_are_those_that_are_hashed(
            results in prop::collection::vec((0..9_u8, 0..9_u8), 1..12),
            changed_result in any::<prop::sample::Index>(),
            changed_text in any::<prop::sample::Index>(),
            end in any::<prop::sample::Index>(),
        ) {
            let (texts, mut sent): (Vec<_>, Vec<_>) = results.into_iter().unzip();
            let before = body(&texts[..=end.index(texts.len())]);
            let mut previous = Request::parse(Api::OpenAiChat, before.as_bytes()).unwrap();
            let beginnings = hashes(&previous, &sent).into();
            let messages = previous.outline.messages.len();
            previous.outline.previous = Some(Previous { beginnings, messages });

            let mut texts = texts.clone();
            texts[changed_text.index(sent.len())] = 9;
            sent[changed_result.index(texts.len())] = 9;
            let after = body(&texts);
            let common = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other);
            let request = Request::parse_after(
                Api::OpenAiChat, after.as_bytes(), &previous.outline, common.count(),
            ).unwrap();
            let mut unknown = Request::parse(Api::OpenAiChat, after.as_bytes()).unwrap();
            unknown.outline.previous = None;
            let (known, unknown) = (hashes(&request, &sent), hashes(&unknown, &sent));
            prop_assert_eq!(known.hashes, unknown.hashes);
            prop_assert_eq!(known.results, unknown.results);
        }
    }
}
