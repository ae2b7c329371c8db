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
//! | `FileTokenizer` (feature `files`) | yes | a tokenizer file given by path |
//!
//! [`by_name`] and [`by_name_or_file`] give the estimator for what a flag says,
//! [`for_model`] that of a model in the table of [`Models`], [`or_heuristic`]
//! one that can always count. [`AppendCounter`] counts a text that grows,
//! [`count_batch`] many texts, and `Cached` (feature `cache`) remembers.
//!
//! ```
//! use lcp_tokens::{HeuristicEstimator, TokenEstimator};
//!
//! assert_eq!(HeuristicEstimator.estimate("a budget is a promise"), 5);
//! assert!(!HeuristicEstimator.is_exact());
//! ```

mod append;
mod batch;
#[cfg(feature = "bpe")]
mod bpe;
#[cfg(feature = "cache")]
mod cached;
mod choose;
mod estimator;
#[cfg(feature = "files")]
mod file;
mod heuristic;
mod join;
mod models;
mod scaled;
#[cfg(feature = "bpe")]
mod tiktoken;
mod truncate;

pub use append::AppendCounter;
pub use batch::count_batch;
#[cfg(feature = "cache")]
pub use cached::{CacheFileError, Cached, CountCache};
pub use choose::{
    NAMES, TokenizerError, UnknownName, by_name, by_name_or_file, for_model, or_heuristic,
};
pub use estimator::TokenEstimator;
#[cfg(feature = "files")]
pub use file::{FILE_BYTES_MAX, FileError, FileFormat, FileTokenizer};
pub use heuristic::{CodeAwareEstimator, HeuristicEstimator};
pub use join::{joins_at, split_at_join};
pub use models::{ENCODINGS, Model, Models, UnknownModel};
#[cfg(feature = "models-file")]
pub use models::{ModelsError, ModelsErrorKind};
pub use scaled::{CLAUDE_4_7_PERCENT, CLAUDE_PERCENT, ScaledEstimator};
#[cfg(feature = "bpe")]
pub use tiktoken::{Encoding, Tiktoken, TokenEnds};
