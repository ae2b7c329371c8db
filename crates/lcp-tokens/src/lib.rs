//! Token counts for budgets.
//!
//! [`TokenEstimator`] is one question, "how many tokens is this text?", and
//! what is known of the answer: whether it is exact, and whether counts of
//! parts add up. A budget engine needs no more.
//!
//! | estimator | exact | what it does |
//! |---|---|---|
//! | [`HeuristicEstimator`] | no | bytes ÷ 4 (SPEC_08) |
//! | [`CodeAwareEstimator`] | no | bytes ÷ 3 for what looks like code, else ÷ 4 (SPEC_08) |
//! | [`Tiktoken`] (feature `tiktoken`) | yes | OpenAI's encodings, vocabularies built in |
//!
//! [`by_name`] gives the estimator for the name that a flag or a file has.
//!
//! ```
//! use lcp_tokens::{HeuristicEstimator, TokenEstimator};
//!
//! assert_eq!(HeuristicEstimator.estimate("a budget is a promise"), 5);
//! assert!(!HeuristicEstimator.is_exact());
//! ```

#[cfg(feature = "tiktoken")]
mod bpe;
mod heuristic;
mod join;
#[cfg(feature = "tiktoken")]
mod tiktoken;

use std::sync::Arc;

pub use heuristic::{CodeAwareEstimator, HeuristicEstimator};
pub use join::{joins_at, split_at_join};
#[cfg(feature = "tiktoken")]
pub use tiktoken::{Encoding, Tiktoken};

/// Counts the tokens of a text (SPEC_08 §2).
///
/// Only [`Self::estimate`] is required; the other methods say what is known of
/// its answers, and promise nothing by default.
pub trait TokenEstimator: Send + Sync {
    /// How many tokens `text` is; 0 only for the empty text.
    fn estimate(&self, text: &str) -> u32;

    /// Whether the answer is what the model's own tokenizer says, for any text.
    fn is_exact(&self) -> bool {
        false
    }

    /// Whether counts add up at the joins that [`joins_at`] describes: the
    /// count of two texts put together is then the sum of theirs.
    fn is_additive(&self) -> bool {
        false
    }

    /// The name in reports.
    #[expect(clippy::unnecessary_literal_bound, reason = "others have names made at run time")]
    fn name(&self) -> &str {
        "custom"
    }
}

impl<T: TokenEstimator + ?Sized> TokenEstimator for &T {
    fn estimate(&self, text: &str) -> u32 {
        (**self).estimate(text)
    }
    fn is_exact(&self) -> bool {
        (**self).is_exact()
    }
    fn is_additive(&self) -> bool {
        (**self).is_additive()
    }
    fn name(&self) -> &str {
        (**self).name()
    }
}

impl<T: TokenEstimator + ?Sized> TokenEstimator for Arc<T> {
    fn estimate(&self, text: &str) -> u32 {
        (**self).estimate(text)
    }
    fn is_exact(&self) -> bool {
        (**self).is_exact()
    }
    fn is_additive(&self) -> bool {
        (**self).is_additive()
    }
    fn name(&self) -> &str {
        (**self).name()
    }
}

/// The names that [`by_name`] knows, in the order of a help text.
pub const NAMES: &[&str] = &[
    #[cfg(feature = "tiktoken")]
    "o200k_base",
    #[cfg(feature = "tiktoken")]
    "cl100k_base",
    #[cfg(feature = "tiktoken")]
    "o200k_harmony",
    #[cfg(feature = "tiktoken")]
    "p50k_base",
    #[cfg(feature = "tiktoken")]
    "r50k_base",
    "heuristic",
    "code-aware",
];

/// A name that no estimator has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown encoding {name:?}; it may be {}", NAMES.join(", "))]
pub struct UnknownName {
    /// The name.
    pub name: String,
}

/// The estimator with this name, one of [`NAMES`].
///
/// # Errors
///
/// [`UnknownName`], which lists the names there are.
///
/// ```
/// assert_eq!(lcp_tokens::by_name("heuristic")?.name(), "heuristic");
/// let error = lcp_tokens::by_name("o200k").err().unwrap();
/// assert!(error.to_string().starts_with("unknown encoding \"o200k\"; it may be "));
/// # Ok::<(), lcp_tokens::UnknownName>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn TokenEstimator>, UnknownName> {
    match name {
        "heuristic" => return Ok(Arc::new(HeuristicEstimator)),
        "code-aware" => return Ok(Arc::new(CodeAwareEstimator)),
        _ => {}
    }
    #[cfg(feature = "tiktoken")]
    if let Some(encoding) = Encoding::from_name(name) {
        return Ok(Arc::new(Tiktoken::new(encoding)));
    }
    Err(UnknownName { name: name.to_owned() })
}
