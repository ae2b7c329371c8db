//! The beginnings of requests that a provider may cache.

use crate::decisions::Hash;
use crate::hash_chain::HashChain;
use crate::request::{CachedMessages, Outline, Request};

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

/// A beginning that the provider may cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The hash of its content.
    pub hash: Hash,
    /// The time in seconds for which the provider keeps it after its last use.
    pub seconds: u32,
}

/// The beginnings of a request: the head, and then the head with one more message each.
#[derive(Debug, Default)]
pub(crate) struct Beginnings(HashChain);

/// The time in seconds for which a beginning counts as warm after the provider may have forgotten it. A
/// request reaches the provider later than the gateway, and an edit of a warm prefix costs more than
/// a late one.
const MARGIN_SECONDS: u32 = 120;

impl Beginnings {
    /// Hashes the head, in which there are no results.
    pub(crate) fn new(request: &Request<'_>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(request.model.as_bytes());
        if request.cache.messages == CachedMessages::Unasked {
            // Its usage says nothing about the same messages with marks. The name of a model has no such byte.
            hasher.update(&[0xFF]);
        }
        for place in &request.head {
            hasher.update(&request.hash_part(place.clone()));
        }
        Self(HashChain { beginnings: vec![*hasher.finalize().as_bytes()], results: Vec::new() })
    }

    /// Hashes the messages from `first` on. Takes hashes from the previous request of the session where it has
    /// them. `result_hash` returns the hash of the JSON string that is sent for a result.
    pub(crate) fn hash_from(
        &mut self,
        first: usize,
        request: &Request<'_>,
        result_hash: impl Fn(usize) -> Hash,
    ) {
        let Self(chain) = self;
        chain.beginnings.truncate(first + 1);
        let Outline { messages, results, previous, .. } = &request.outline;
        chain.results.truncate(results.partition_point(|it| it.message < first));
        let message_of = |at: usize| results.get(at).map(|it| it.message);
        let first = previous
            .as_ref()
            .map_or(first, |previous| chain.extend_from(previous, first, message_of, &result_hash));
        for (at, message) in messages.iter().enumerate().skip(first) {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&chain.beginnings[at]).update(&message.hash);
            while results.get(chain.results.len()).is_some_and(|it| it.message == at) {
                let hash = result_hash(chain.results.len());
                hasher.update(&hash);
                chain.results.push(hash);
            }
            chain.beginnings.push(*hasher.finalize().as_bytes());
        }
    }

    /// Returns the hashes for the next request.
    #[cfg(feature = "proxy")]
    pub(crate) fn into_chain(self) -> HashChain {
        self.0
    }

    /// Returns the hashes: that of the head, and then one for each message.
    pub(crate) fn hashes(&self) -> &[Hash] {
        &self.0.beginnings
    }

    /// Returns the number of messages in the warm prefix, or `None` if the beginning of this request
    /// was never sent.
    pub(crate) fn warm_messages(&self, cached: &dyn Fn(&Hash) -> Cached) -> Option<usize> {
        let mut is_known = false;
        for (messages, hash) in self.0.beginnings.iter().enumerate().rev() {
            match cached(hash) {
                Cached::Warm if messages > 0 => return Some(messages),
                // The head alone is that of every session.
                Cached::Expired => is_known |= messages > 0,
                Cached::Warm | Cached::Unknown => {}
            }
        }
        is_known.then_some(0)
    }

    /// Returns the beginnings that the provider may cache.
    pub(crate) fn cached(&self, request: &Request<'_>) -> Vec<Beginning> {
        let seconds = request.cache.seconds + MARGIN_SECONDS;
        let hashes = &self.0.beginnings[..=request.cached_messages()];
        hashes.iter().map(|hash| Beginning { hash: *hash, seconds }).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hash_chain::Previous;
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
    fn hashes(request: &Request<'_>, sent: &[u8]) -> HashChain {
        let mut beginnings = Beginnings::new(request);
        beginnings.hash_from(0, request, |at| [sent[at]; 32]);
        beginnings.0
    }

    #[test]
    fn the_head_of_another_session_says_nothing() {
        let body = body(&[1, 2]);
        let request = Request::parse(Api::OpenAiChat, body.as_bytes()).unwrap();
        let all = Beginnings(hashes(&request, &[1, 2]));
        let warm = |known: &[usize]| {
            all.warm_messages(&|hash| {
                let is_known = known.iter().any(|at| all.hashes()[*at] == *hash);
                if is_known { Cached::Warm } else { Cached::Unknown }
            })
        };
        assert_eq!((warm(&[]), warm(&[0]), warm(&[0, 3])), (None, None, Some(3)));
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
            let chain = hashes(&previous, &sent).into();
            let messages = previous.outline.messages.len();
            previous.outline.previous = Some(Previous { chain, messages });

            let mut texts = texts.clone();
            texts[changed_text.index(sent.len())] = 9;
            sent[changed_result.index(texts.len())] = 9;
            let after = body(&texts);
            let common = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other);
            let request = Request::parse_after(
                Api::OpenAiChat, &after, previous.outline.clone(), common.count(),
            ).unwrap();
            let mut unknown = Request::parse(Api::OpenAiChat, after.as_bytes()).unwrap();
            unknown.outline.previous = None;
            let (known, unknown) = (hashes(&request, &sent), hashes(&unknown, &sent));
            prop_assert_eq!(known.beginnings, unknown.beginnings);
            prop_assert_eq!(known.results, unknown.results);
        }
    }
}
