//! Estimates for tokenizers that are not public: another count times a factor.

use std::borrow::Cow;

use crate::TokenEstimator;
#[cfg(feature = "bpe")]
use crate::{Encoding, Tiktoken};

/// The number of tokens of Claude per 100 tokens of `o200k_base`, for models before 4.7.
///
/// This is an assumption: Anthropic publishes no tokenizer for Claude 3 and later, and 1.18 is a
/// commonly used factor. It has not been measured here.
pub const CLAUDE_SCALE_PERCENT: u32 = 118;

/// The number of tokens of Claude per 100 tokens of `o200k_base`, for 4.7 and later.
///
/// This is an assumption like [`CLAUDE_SCALE_PERCENT`]. It agrees with the token counting page of
/// Anthropic, according to which the newer tokenizer has about 30 % more tokens for the same text:
/// 1.18 × 1.30 = 1.53.
pub const CLAUDE_4_7_SCALE_PERCENT: u32 = 153;

/// An estimator that multiplies the count of another estimator by a percentage and rounds up.
///
/// The count is always an estimate, even if the other one is exact. Counts of parts do not add up,
/// because each of them is rounded.
///
/// ```
/// use lcp_tokens::{HeuristicEstimator, ScaledEstimator, TokenEstimator};
///
/// let estimator = ScaledEstimator::new(HeuristicEstimator, 118, "ours");
/// assert_eq!(estimator.estimate("twelve bytes"), 4); // 3 × 1.18 = 3.54
/// assert_eq!((estimator.name(), estimator.is_exact()), ("ours", false));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaledEstimator<E> {
    inner: E,
    percent: u32,
    name: Cow<'static, str>,
}

impl<E: TokenEstimator> ScaledEstimator<E> {
    /// Creates an estimator with the counts of `inner` times `percent` ÷ 100, and with a name for
    /// reports.
    #[must_use]
    pub fn new(inner: E, percent: u32, name: impl Into<Cow<'static, str>>) -> Self {
        Self { inner, percent, name: name.into() }
    }

    /// Returns the scaled count of a text, given its inner count.
    fn scaled(&self, text: &str, count: u32) -> u32 {
        let scaled = (u64::from(count) * u64::from(self.percent)).div_ceil(100);
        u32::try_from(scaled).unwrap_or(u32::MAX).max(u32::from(!text.is_empty()))
    }

    /// Returns the maximum inner count whose scaled count is at most `tokens`.
    fn inner_limit(&self, tokens: u32) -> u32 {
        if tokens == 0 {
            // Only the empty text has 0 tokens, for any factor.
            return 0;
        }
        let most = (u64::from(tokens) * 100).checked_div(u64::from(self.percent));
        most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX)
    }

    /// Returns the factor in percent.
    #[must_use]
    pub const fn percent(&self) -> u32 {
        self.percent
    }
}

#[cfg(feature = "bpe")]
impl ScaledEstimator<Tiktoken> {
    /// Creates an estimate for Claude before 4.7, named `claude`: `o200k_base` ×
    /// [`CLAUDE_SCALE_PERCENT`].
    ///
    /// This is not an exact count. If the number must be right, ask the provider.
    ///
    /// ```
    /// use lcp_tokens::{ScaledEstimator, TokenEstimator};
    ///
    /// let claude = ScaledEstimator::claude();
    /// assert_eq!(claude.estimate("hello world"), 3); // 2 × 1.18
    /// assert!(!claude.is_exact());
    /// ```
    #[must_use]
    pub fn claude() -> Self {
        Self::new(Tiktoken::new(Encoding::O200kBase), CLAUDE_SCALE_PERCENT, "claude")
    }

    /// Creates an estimate for Claude 4.7 and later, named `claude-4.7`: `o200k_base` ×
    /// [`CLAUDE_4_7_SCALE_PERCENT`].
    #[must_use]
    pub fn claude_4_7() -> Self {
        Self::new(Tiktoken::new(Encoding::O200kBase), CLAUDE_4_7_SCALE_PERCENT, "claude-4.7")
    }
}

impl<E: TokenEstimator> TokenEstimator for ScaledEstimator<E> {
    fn estimate(&self, text: &str) -> u32 {
        if text.is_empty() { 0 } else { self.scaled(text, self.inner.estimate(text)) }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn count_up_to(&self, text: &str, limit: u32) -> Option<u32> {
        self.inner.count_up_to(text, self.inner_limit(limit)).map(|count| self.scaled(text, count))
    }

    fn truncate_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        self.inner.truncate_to(text, self.inner_limit(tokens))
    }

    fn truncate_front_to<'t>(&self, text: &'t str, tokens: u32) -> &'t str {
        self.inner.truncate_front_to(text, self.inner_limit(tokens))
    }

    fn caveat(&self) -> Option<&str> {
        self.inner.caveat()
    }

    fn write_cache_key(&self, write: &mut dyn FnMut(&[u8])) -> bool {
        write(&self.percent.to_le_bytes());
        self.inner.write_cache_key(write)
    }
}
