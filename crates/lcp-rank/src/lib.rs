//! Ranks the files and functions of a project for a question, without a model.
//!
//! Start at [`Ranker`]. A [`Query`] is any text: an issue, a stack trace, a sentence. The score of a
//! file combines its words (BM25F over path, name, definitions and body), its best passage, past
//! commits with similar messages, and names in the question. The same input gives the same ranking
//! on every machine, with any number of threads, in any order of files.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | the question | `query.rs`; words of identifiers: `words.rs`; names of files: `mentions.rs` |
//! | counts of terms in files | `scan.rs` |
//! | the formula | `formula.rs`; its parameters: `parameters.rs`; roles of files: `role.rs` |
//! | past commits | `history.rs` |
//! | functions and other passages | `passages.rs` |
//! | the ranking and its reasons | `ranking.rs` |
//! | overviews without a question | `overview/` |

#![allow(clippy::cast_precision_loss, reason = "counts and lengths are far below 2^52")]

mod formula;
mod history;
mod mentions;
mod overview;
mod parameters;
mod passages;
mod query;
mod ranking;
mod role;
mod scan;
mod words;

pub use lcp_ingest::Commit;
pub use overview::Overview;
pub use query::{QUERY_PART_BYTES, Query};
pub use ranking::{Document, RankedFile, Ranker};
