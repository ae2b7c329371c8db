//! From a path to a connection: the file's layout, and what can be wrong with it.

use std::path::Path;

use lcp_sqlite::{Layout, Options};
use rusqlite::Connection;

use super::super::error::{Error, Result};
use super::super::verified::BODY_BYTES_MAX;
use super::SqliteOptions;

const LAYOUT: Layout = Layout {
    // "LCPS"
    application_id: 0x4C43_5053,
    version: 1,
    name: "store",
    // Bodies are a few KiB: most of them fit into one page.
    page_bytes: 16 * 1024,
    row_bytes_max: BODY_BYTES_MAX + ROW_BYTES_MAX,
    schema: &[BODIES],
    migrations: &[],
};

/// A table by row id with an index on the names: bodies stay where they were put,
/// and names are found without reading any. Names are random, so that a table in
/// their order would be rewritten all the time.
const BODIES: &str = "CREATE TABLE bodies (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT";

/// What a row has beside its body, generously.
const ROW_BYTES_MAX: u64 = 4096;

/// Opens a store to write to, and makes it if need be.
pub(super) fn to_write(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    lcp_sqlite::open(path, &LAYOUT, &of_file(options)).map_err(in_our_words)
}

/// Opens a store that is there to read from.
pub(super) fn to_read(path: &Path, options: &SqliteOptions) -> Result<Connection> {
    lcp_sqlite::open_read_only(path, &LAYOUT, &of_file(options)).map_err(in_our_words)
}

fn of_file(options: &SqliteOptions) -> Options {
    let SqliteOptions { busy_timeout, max_bytes, durable } = *options;
    Options { busy_timeout, max_bytes, durable, local_only: false }
}

/// The error of a store for that of its file.
pub(super) fn in_our_words(error: lcp_sqlite::Error) -> Error {
    use lcp_sqlite::Error as File;
    match error {
        File::ReadOnly => Error::ReadOnly,
        File::Full => Error::Full,
        File::Damaged { reason } => Error::Damaged { reason },
        File::Busy => Error::Busy,
        File::NotOurs { path, reason } => Error::NotAStore { path, reason },
        File::TooNew { found, known } => Error::TooNew { found, known },
        File::Io { reason } => Error::Io { reason },
        other => Error::Io { reason: other.to_string() },
    }
}
