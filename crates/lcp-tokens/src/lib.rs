//! Token counts for budgets.
//!
//! [`TokenEstimator`] is one question, "how many tokens is this text?"; what is
//! known of the answer: whether it is exact, and whether counts of parts add
//! up; and what budgets ask besides: is it more than so many, what of it fits.
//!
//! | estimator | exact | what it does |
//! |---|---|---|
//! | [`HeuristicEstimator`] | no | bytes ÷ 4 (SPEC_08) |
//! | [`CodeAwareEstimator`] | no | bytes ÷ 3 for what looks like code, else ÷ 4 (SPEC_08) |
//! | [`ScaledEstimator`] | no | another count times a factor: Claude's is not public |
//! | `Tiktoken` (feature `tiktoken`, or one for each encoding) | yes | OpenAI's encodings, vocabularies built in |
//! | `FileTokenizer` (feature `tokenizer-files`) | yes | a tokenizer file given by path |
//!
//! [`tokenizer_by_name`] and [`tokenizer_by_name_or_file`] give the estimator for what a flag says,
//! [`tokenizer_for_model`] that of a model in the table of [`Models`], [`or_fallback`]
//! one that can always count. [`IncrementalCounter`] counts a text that grows,
//! [`count_batch`] many texts, and `CachedEstimator` (feature `cache`) remembers.
//!
//! ```
//! use lcp_tokens::{HeuristicEstimator, TokenEstimator};
//!
//! assert_eq!(HeuristicEstimator.estimate("a budget is a promise"), 5);
//! assert!(!HeuristicEstimator.is_exact());
//! ```

mod boundary;
#[cfg(feature = "bpe")]
mod bpe;
#[cfg(feature = "cache")]
mod cached;
mod estimator;
mod heuristic;
mod incremental;
mod models;
mod resolve;
mod scaled;
#[cfg(feature = "bpe")]
mod tiktoken;
#[cfg(feature = "tokenizer-files")]
mod tokenizer_file;
mod truncate;

pub use boundary::{is_additive_boundary, split_at_boundary};
#[cfg(feature = "cache")]
pub use cached::{CacheFileError, CachedEstimator, CountCache};
pub use estimator::{TokenEstimator, count_batch};
pub use heuristic::{CodeAwareEstimator, HeuristicEstimator};
pub use incremental::IncrementalCounter;
#[cfg(feature = "models-file")]
pub use models::ModelsError;
pub use models::{ENCODINGS, Model, Models, UnknownModel};
pub use resolve::{
    TOKENIZER_NAMES, TokenizerError, or_fallback, tokenizer_by_name, tokenizer_by_name_or_file,
    tokenizer_for_model,
};
pub use scaled::{CLAUDE_4_7_SCALE_PERCENT, CLAUDE_SCALE_PERCENT, ScaledEstimator};
#[cfg(feature = "bpe")]
pub use tiktoken::{Encoding, Tiktoken, TokenEnds};
#[cfg(feature = "tokenizer-files")]
pub use tokenizer_file::{FILE_BYTES_MAX, FileTokenizer, TokenizerFileError, TokenizerFileFormat};
