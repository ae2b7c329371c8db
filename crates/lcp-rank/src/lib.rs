//! Ranks the files and functions of a project for a question, without a model.
//!
//! Start at [`Ranker`]. A [`Query`] is any text: an issue, a stack trace, a sentence. The score of a
//! file is a weighted sum of signals: its words and identifiers, its best passage, past commits with
//! similar messages, recent changes, names in the question. The same input gives the same ranking on
//! every machine, with any number of threads, in any order of files. [`Overview`] needs no question.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | the question | `query.rs`; words of identifiers: `words.rs`; names of files: `mentions.rs`; parts of paths: `paths.rs` |
//! | files and the counts of terms in them | `document.rs`, `scan.rs` |
//! | the words of texts, for any question | `text_index.rs`; those of a project, cached: `index.rs` |
//! | the formula | `signals.rs`; its parameters: `parameters.rs` |
//! | signals | words: `formula.rs`; past commits: `history.rs`; tests: `companions.rs`; roles of files: `role.rs` |
//! | functions and other passages | `passages.rs`; their scores: `passage_scores.rs` |
//! | the ranking and its reasons | `ranking.rs` |
//! | overviews without a question | `overview/` |

#![allow(clippy::cast_precision_loss, reason = "counts and lengths are far below 2^52")]

mod companions;
mod document;
mod formula;
mod history;
mod index;
mod mentions;
mod overview;
mod parameters;
mod passage_scores;
mod passages;
mod paths;
mod query;
mod ranking;
mod role;
mod scan;
mod signals;
mod text_index;
mod words;

pub use document::{Document, RankedFile};
pub use index::WordIndex;
pub use lcp_ingest::Commit;
pub use overview::Overview;
pub use query::Query;
pub use ranking::Ranker;
