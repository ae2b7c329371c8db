//! SQLite files that several processes share, with identification, verification and locking.
//!
//! | look for | in |
//! |---|---|
//! | the header and the tables of a file | [`SchemaSpec`] |
//! | a connection | [`open`], [`open_read_only`], [`Options`] |
//! | a queue of writers | [`WriteLock`] |
//!
//! A file of another program is refused and not changed. A file with the header of the schema must
//! contain exactly the objects of the schema: an additional trigger could delete new data, and an
//! additional view could run forever.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("notes.db");
//! use lcp_store::sqlite::{Error, SchemaSpec, Options, WriteLock, open, open_read_only};
//!
//! const NOTES: SchemaSpec = SchemaSpec {
//!     application_id: 0x4E4F_5445,
//!     version: 1,
//!     name: "notebook",
//!     page_bytes: 4096,
//!     row_bytes_max: 1 << 20,
//!     schema: &["CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"],
//!     migrations: &[],
//! };
//!
//! let options = Options::default();
//! let mut connection = open(&path, &NOTES, &options)?;
//! let lock = WriteLock::for_database(&path, options.busy_timeout)?;
//! lock.acquire()?.write(&mut connection, |transaction| {
//!     transaction.execute("INSERT INTO notes (text) VALUES ('a')", ()).map_err(Error::from)
//! })?;
//!
//! let reader = open_read_only(&path, &NOTES, &options)?;
//! let text: String = reader.query_row("SELECT text FROM notes", (), |row| row.get(0))?;
//! assert_eq!(text, "a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod lock;
mod open;
mod paths;
mod schema;
#[cfg(all(test, target_os = "linux"))]
mod tests;

pub use error::{Error, Result};
pub use lock::{WriteGuard, WriteLock};
pub use open::{open, open_read_only};
pub use schema::{Options, SchemaSpec};
