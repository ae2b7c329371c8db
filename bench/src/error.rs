//! Why nothing could be measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_tokens::Encoding;

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that could not be read or written.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A peer that cannot be used.
    #[error("{name} is of no use here: {message}")]
    Peer {
        /// Its crate.
        name: &'static str,
        /// What it says.
        message: String,
    },
    /// A command that failed.
    #[error("{command} failed: {message}")]
    Command {
        /// The command.
        command: String,
        /// What it says.
        message: String,
    },
    /// A crate that was to be counted, and is not among the dependencies.
    #[error("{0} is a corpus, but not a dependency of this workspace")]
    Corpus(String),
    /// A process that did not measure what it was to measure.
    #[error("a measuring process failed: {message}")]
    Worker {
        /// What it says.
        message: String,
    },
    /// A tokenizer that used more than the one thread it was given.
    #[error(
        "other threads worked for {others:?} while the one that is measured did for {thread:?}"
    )]
    ManyThreads {
        /// Time of the one.
        thread: Duration,
        /// Time of the others.
        others: Duration,
    },
    /// LCP does not count what tiktoken-rs counts: there is nothing to race.
    #[error("{encoding}, {kind}: LCP counts {found} tokens, tiktoken-rs {right}")]
    Inexact {
        /// The encoding.
        encoding: Encoding,
        /// The kind of text.
        kind: &'static str,
        /// LCP's count.
        found: usize,
        /// The right one.
        right: usize,
    },
    /// A text that was not planned.
    #[error(transparent)]
    Driver(#[from] lcp_driver::DriverError),
    /// A store that did not keep what it was given.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Store(#[from] lcp_continuity::store::Error),
    /// A session that was not handed over.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Continuity(#[from] lcp_continuity::Error),
    /// A database without a store on top that did not write.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Likewise.
    #[cfg(feature = "peers")]
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    /// Options of deduplication that are none.
    #[error(transparent)]
    Dedup(#[from] lcp_dedup::DedupError),
    /// Watermarks that are none.
    #[error(transparent)]
    Watermarks(#[from] lcp_driver::prompt_cache::WatermarkError),
    /// A plan that says of its text what is not so: there is nothing to bill.
    #[error("turn {turn}: the plan says that {claim}, and it is not so")]
    Untrue {
        /// The turn, from 1.
        turn: usize,
        /// What it says.
        claim: String,
    },
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path, error: std::io::Error) -> Self {
        Self::Io { what, path: path.to_owned(), error }
    }

    /// What failed while something was measured, in its own words.
    #[cfg(feature = "peers")]
    pub(crate) fn worker(cause: &dyn std::fmt::Display) -> Self {
        Self::Worker { message: cause.to_string() }
    }
}
