//! Token counts for budgets.
//!
//! [`TokenEstimator`] counts the tokens of a text. It also reports whether the counts are exact and
//! whether counts of parts add up, checks a text against a limit, and truncates a text to a limit.
//!
//! | estimator | exact | method |
//! |---|---|---|
//! | [`HeuristicEstimator`] | no | bytes ÷ 4 (SPEC_08) |
//! | [`CodeAwareEstimator`] | no | bytes ÷ 3 for text that looks like code, else ÷ 4 (SPEC_08) |
//! | [`ScaledEstimator`] | no | another count times a factor, for Claude (tokenizer not public) |
//! | `Tiktoken` (feature `tiktoken`, or one for each encoding) | yes | OpenAI's encodings, vocabularies built in; others are loaded at run time (`load_vocabulary`, feature `bpe`) |
//! | `FileTokenizer` (feature `tokenizer-files`) | yes | a tokenizer file given by path |
//!
//! These functions select an estimator:
//!
//! - [`tokenizer_by_name`] and [`tokenizer_by_name_or_file`] by the value of a flag;
//! - [`tokenizer_for_model`] for a model in the table of [`Models`];
//! - [`or_fallback`] replaces one that cannot be loaded, so that counting always works.
//!
//! `Tiktoken` also returns the ids of tokens, and the bytes of ids (`encode`, `decode`).
//! [`IncrementalCounter`] counts a text that grows, [`count_batch`] counts several texts, and
//! `CachedEstimator` (feature `cache`) stores counts.
//!
//! ```
//! use lcp_tokens::{HeuristicEstimator, TokenEstimator};
//!
//! assert_eq!(HeuristicEstimator.estimate("a budget is a promise"), 5);
//! assert!(!HeuristicEstimator.is_exact());
//! ```
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | the trait; growing texts | `estimator.rs`; `incremental.rs` |
//! | OpenAI's encodings: counts, ids, bytes of ids | `tiktoken.rs`, on the engine in `bpe/` |
//! | vocabularies, built in or loaded | `vocabularies.rs` |
//! | pre-tokenization | `bpe/pretokenize/`: 64 bytes at once in `simd.rs`, one piece at a time in `scalar.rs` |
//! | tokens of a piece | `bpe/piece_cache.rs`, `bpe/vocabulary.rs`, `bpe/merge.rs`; of long pieces: `bpe/linear.rs` |
//! | truncation | `bpe/truncate.rs`; for other estimators: `truncate.rs` |
//! | the rule by which counts of parts add up | `boundary.rs` |
//! | estimates | `heuristic.rs` (SPEC_08), `scaled.rs` (Claude) |
//! | tokenizer files; stored counts | `tokenizer_file/`; `cached.rs` |
//! | models, their windows and names | `models/` |
//! | selection of an estimator, and the fallback | `resolve.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

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
#[cfg(feature = "bpe")]
mod vocabularies;

pub use boundary::{is_additive_boundary, split_at_boundary};
#[cfg(feature = "cache")]
pub use cached::{CacheFileError, CachedEstimator, CountCache};
pub use estimator::{TokenEstimator, count_batch};
pub use heuristic::{CodeAwareEstimator, HeuristicEstimator};
pub use incremental::IncrementalCounter;
#[cfg(feature = "models-file")]
pub use models::ModelsError;
pub use models::{ENCODINGS, Model, Models, UnknownModel};
#[cfg(feature = "bpe")]
pub use resolve::encoding_of;
pub use resolve::{
    TOKENIZER_NAMES, TokenizerError, or_fallback, tokenizer_by_name, tokenizer_by_name_or_file,
    tokenizer_for_model,
};
pub use scaled::{CLAUDE_4_7_SCALE_PERCENT, CLAUDE_SCALE_PERCENT, ScaledEstimator};
#[cfg(feature = "bpe")]
pub use tiktoken::{Encoding, Tiktoken, TokenEnds, UnknownToken};
#[cfg(feature = "tokenizer-files")]
pub use tokenizer_file::{FILE_BYTES_MAX, FileTokenizer, TokenizerFileError, TokenizerFileFormat};
#[cfg(feature = "bpe")]
pub use vocabularies::{VocabularyError, load_vocabulary};
