//! `relevance`: whether a ranked pack shows the files and lines that a question needs, measured on
//! the history of repositories.
//!
//! A query is the message of a commit. The corpus is the tree of the commit's parent, and the gold
//! is the files and lines that the commit changed. No model takes part.
//!
//! - Queries: `queries` chooses commits, `message` cleans their messages, `kinds` tells which files
//!   count, `repository` runs git.
//! - Figures: `fill` measures the order of files of any ranker, `product` the text of `lcp` with
//!   `hunks` and `lines`. `metrics` has their names and goals.
//! - Others: `peers` are computed here, `installed` are programs, `reference` is a file.
//! - `run` asks all queries, `rows` compares, `timing` measures times.

mod fill;
mod hunks;
#[cfg(feature = "peers")]
mod installed;
mod kinds;
mod lines;
mod message;
mod metrics;
mod options;
mod peers;
mod product;
mod queries;
mod reference;
mod repository;
mod rows;
#[cfg(feature = "peers")]
mod run;
mod timing;

#[cfg(feature = "peers")]
pub(crate) use run::run;

/// The name of the benchmark.
#[cfg(feature = "peers")]
pub(crate) const NAME: &str = "relevance";

/// The arguments that only this benchmark has.
#[cfg(feature = "peers")]
pub(crate) const USAGE: &str = "[--repo DIR]... [--commits N] [--leaks] [--peer-queries N] \
    [--rounds N] [--reference FILE]... [--queries-out FILE] [--lcp PROGRAM]";
