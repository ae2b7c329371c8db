//! Token counts for the bill. They are computed after the response, so that the request need not wait for
//! them.

use lcp_tokens::TokenEstimator;

use crate::decisions::Hash;
use crate::json::countable_text;

/// The number of bytes of texts from which counts are not deferred, because the texts would be copied, and
/// would stay in memory until the response ends.
const BYTES_MAX: usize = 32 << 10;

/// Token counts, some of which are not computed yet.
#[derive(Debug, Default)]
pub struct DeferredCounts {
    /// The counts without the texts below.
    pub(super) counts: Counts,
    /// The JSON after the longest beginning with a stored count, in parts. Each has the hash of the
    /// beginning that ends with it.
    pub(super) parts: Vec<(Hash, String)>,
    pub(super) saved: Vec<SavedText>,
    /// The messages of the warm prefix from the first new edit on. The provider must write them again.
    pub(super) broken: Vec<String>,
}

/// The text of a result, and its replacement.
#[derive(Debug)]
pub(super) struct SavedText {
    pub(super) is_warm: bool,
    pub(super) before: Text,
    pub(super) after: Text,
}

/// A text with the hash of its count, or its tokens.
#[derive(Debug)]
pub(super) enum Text {
    Counted(u32),
    Uncounted(Hash, String),
}

impl Text {
    const fn bytes(&self) -> usize {
        match self {
            Self::Counted(_) => 0,
            Self::Uncounted(_, text) => text.len(),
        }
    }
}

/// The token counts of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tokens of the body, without images and files. 0 if the request has no edits and its size does
    /// not reach the watermark.
    pub tokens: u32,
    /// Tokens that all edits save, old and new: in the warm prefix, and after it.
    pub saved: (u32, u32),
    /// Tokens of the warm prefix that the provider must write again, because a new edit changed them
    /// or something before them.
    pub broken: u32,
}

impl DeferredCounts {
    /// Counts the tokens, and stores counts by `store`, for
    /// [`Policy::stored_count`](super::Policy::stored_count).
    pub fn count(self, estimator: &dyn TokenEstimator, store: &dyn Fn(&Hash, u32)) -> Counts {
        let Self { mut counts, parts, saved, broken } = self;
        let count_json = |json: &str| estimator.estimate(&countable_text(json));
        for (hash, json) in &parts {
            counts.tokens = counts.tokens.saturating_add(count_json(json));
            store(hash, counts.tokens);
        }
        let count = |text: &Text| match text {
            Text::Counted(tokens) => *tokens,
            Text::Uncounted(hash, text) => {
                let tokens = estimator.estimate(text);
                store(hash, tokens);
                tokens
            }
        };
        for SavedText { is_warm, before, after } in &saved {
            let saved = if *is_warm { &mut counts.saved.0 } else { &mut counts.saved.1 };
            *saved = saved.saturating_add(count(before).saturating_sub(count(after)));
        }
        let broken = broken.iter().map(|json| count_json(json));
        counts.broken = broken.fold(counts.broken, u32::saturating_add);
        counts
    }

    /// Counts at once if the texts are large.
    pub(super) fn bounded(
        self,
        estimator: &dyn TokenEstimator,
        store: &dyn Fn(&Hash, u32),
    ) -> Self {
        let parts = self.parts.iter().map(|(_, json)| json.len());
        let saved = self.saved.iter().map(|text| text.before.bytes() + text.after.bytes());
        let bytes: usize = parts.chain(saved).chain(self.broken.iter().map(String::len)).sum();
        if bytes <= BYTES_MAX {
            return self;
        }
        Self { counts: self.count(estimator, store), ..Self::default() }
    }
}
