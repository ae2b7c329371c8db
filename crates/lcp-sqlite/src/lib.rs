//! A SQLite file of ours: opened, checked, locked.
//!
//! What the stores of LCP share that keep what they know in one SQLite file, for
//! several processes at once. It is a crate of its own only for them; what it offers
//! may change with them.
//!
//! | look for | in |
//! |---|---|
//! | whose file it is, and what it holds | [`Layout`] |
//! | a connection | [`open`], [`open_private`], [`open_read_only`], [`Options`] |
//! | writers that wait in a queue | [`WriteLock`] |
//!
//! A file that is something else is refused and left as it is, without a trace. One
//! that has our mark must hold the objects of its layout and no others: a trigger
//! could drop what is written, a view answer for ever.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("notes.db");
//! use lcp_sqlite::{Error, Layout, Options, WriteLock, open, open_read_only};
//!
//! const NOTES: Layout = Layout {
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
//! let lock = WriteLock::beside(&path, options.busy_timeout)?;
//! lock.write(&mut connection, |transaction| {
//!     transaction.execute("INSERT INTO notes (text) VALUES ('a')", ()).map_err(Error::from)
//! })?;
//!
//! let reader = open_read_only(&path, &NOTES, &options)?;
//! let text: String = reader.query_row("SELECT text FROM notes", (), |row| row.get(0))?;
//! assert_eq!(text, "a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod layout;
mod lock;
mod mounts;
mod open;
mod paths;
mod place;
mod schema;

pub use error::{Error, Result};
pub use layout::{Layout, Options};
pub use lock::{Held, WriteLock};
pub use open::{open, open_private, open_read_only};
