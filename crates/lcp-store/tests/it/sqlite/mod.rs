//! Files of a made-up layout. How files that are not ours are refused, and how they
//! are read where nothing may be written, is tested by the content stores.

mod layouts;
mod lock;

use std::path::{Path, PathBuf};

use lcp_store::sqlite::{Options, Result, SchemaSpec, open};
use rusqlite::Connection;
use tempfile::TempDir;

/// Two tables, one of which has an index without SQL, and an index and a trigger of
/// ours.
const COUNTS: SchemaSpec = SchemaSpec {
    application_id: 0x5445_5354,
    version: 3,
    name: "table of counts",
    page_bytes: 4096,
    row_bytes_max: 100_000,
    schema: &[
        "CREATE TABLE counts (name TEXT PRIMARY KEY, count INTEGER NOT NULL) STRICT, WITHOUT ROWID",
        "CREATE TABLE log (name TEXT NOT NULL UNIQUE) STRICT",
        "CREATE INDEX counts_by_count ON counts (count)",
        "CREATE TRIGGER counted AFTER INSERT ON counts BEGIN
    INSERT INTO log (name) VALUES (new.name);
END",
    ],
    migrations: &[],
};

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("counts.db");
    (folder, path)
}

/// A file that does not wait for the disk.
fn quick(path: &Path, layout: &SchemaSpec) -> Result<Connection> {
    open(path, layout, &Options { durable: false, ..Options::default() })
}
