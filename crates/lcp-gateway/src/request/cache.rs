//! The cache of the provider for a request.

use super::{Api, INPUT, WRITTEN, WRITTEN_HOUR};

/// The times in seconds for which providers keep a beginning.
pub(super) const FIVE_MINUTES: u32 = 300;
pub(super) const HOUR: u32 = 3_600;
pub(super) const DAY: u32 = 86_400;

/// The messages that a provider caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachedMessages {
    /// All, because the client asks for it, or the provider caches unasked.
    All,
    /// Those until the last mark.
    UntilMark,
    /// All or none. The client does not ask, and the usage of the response tells.
    Unasked,
}

/// The cache of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) messages: CachedMessages,
    /// The longest time in seconds for which the provider keeps a beginning of the request.
    pub(crate) seconds: u32,
    /// The price of a token that the provider writes to its cache, in hundredths of that of an input token.
    pub(crate) write_price: u64,
    /// `true` if the provider reports the tokens that it writes. Then a usage without reads and writes shows that
    /// nothing is cached.
    pub(crate) reports_writes: bool,
}

/// The fields of a request that tell what is cached.
#[derive(Clone, Copy, Debug)]
pub(super) struct CacheFields {
    pub(super) api: Api,
    /// `true` if a message has a mark.
    pub(super) has_marks: bool,
    /// `true` if the request has a mark for all messages.
    pub(super) has_mark_for_all: bool,
    /// The time in seconds for which the request asks, other than the default of its provider.
    pub(super) seconds: Option<u32>,
}

impl CacheFields {
    /// Returns the cache. `reports_writes` is `true` if the provider reports the tokens that it writes, as
    /// Anthropic does.
    pub(super) const fn cache(self, reports_writes: bool) -> Cache {
        let reports_writes = reports_writes && matches!(self.api, Api::Anthropic);
        if !reports_writes {
            let seconds = if matches!(self.seconds, Some(DAY)) { DAY } else { HOUR };
            let messages = CachedMessages::All;
            return Cache { messages, seconds, write_price: INPUT, reports_writes };
        }
        let messages = if self.has_mark_for_all {
            CachedMessages::All
        } else if self.has_marks {
            CachedMessages::UntilMark
        } else {
            CachedMessages::Unasked
        };
        let (seconds, write_price) = match messages {
            CachedMessages::Unasked => (HOUR, INPUT),
            _ if self.seconds.is_some() => (HOUR, WRITTEN_HOUR),
            _ => (FIVE_MINUTES, WRITTEN),
        };
        Cache { messages, seconds, write_price, reports_writes }
    }
}

/// Returns whether the provider of a model reports writes.
pub(super) fn reports_writes(model: &str) -> bool {
    model.to_ascii_lowercase().contains("claude")
}
