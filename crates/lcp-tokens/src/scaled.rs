//! Estimates for tokenizers that are not public: another count, times a factor.

use std::borrow::Cow;

use crate::TokenEstimator;
#[cfg(feature = "o200k")]
use crate::{Encoding, Tiktoken};

/// Claude's tokens per 100 tokens of `o200k_base`, for models before 4.7.
///
/// An assumption: Anthropic publishes no tokenizer for Claude 3 and later, and
/// 1.18 is the factor that people count with. Nothing here has measured it.
pub const CLAUDE_SCALE_PERCENT: u32 = 118;

/// Claude's tokens per 100 tokens of `o200k_base`, for 4.7 and later.
///
/// An assumption like [`CLAUDE_SCALE_PERCENT`]. Anthropic's page on token counting
/// says of the newer tokenizer that the same text has about 30 % more tokens,
/// which agrees: 1.18 × 1.30 = 1.53.
pub const CLAUDE_4_7_SCALE_PERCENT: u32 = 153;

/// The count of another estimator times a percentage, rounded up.
///
/// Always an estimate, however exact the other one is, and counts of parts do
/// not add up, because each of them is rounded.
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
    /// The counts of `inner` times `percent` ÷ 100, under a name for reports.
    #[must_use]
    pub fn new(inner: E, percent: u32, name: impl Into<Cow<'static, str>>) -> Self {
        Self { inner, percent, name: name.into() }
    }

    /// The count for a text that the inner estimator counts so.
    fn scaled(&self, text: &str, count: u32) -> u32 {
        let scaled = (u64::from(count) * u64::from(self.percent)).div_ceil(100);
        u32::try_from(scaled).unwrap_or(u32::MAX).max(u32::from(!text.is_empty()))
    }

    /// Returns the most tokens of the inner estimator that are `tokens` of this one.
    fn inner_limit(&self, tokens: u32) -> u32 {
        if tokens == 0 {
            // No text but the empty one is 0 tokens, whatever the factor.
            return 0;
        }
        let most = (u64::from(tokens) * 100).checked_div(u64::from(self.percent));
        most.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX)
    }

    /// The factor, in percent.
    #[must_use]
    pub const fn percent(&self) -> u32 {
        self.percent
    }
}

#[cfg(feature = "o200k")]
impl ScaledEstimator<Tiktoken> {
    /// Creates an estimate for Claude before 4.7, named `claude`: `o200k_base` ×
    /// [`CLAUDE_SCALE_PERCENT`]. Not a count: ask the provider where the number must be right.
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
