//! Storage for the other crates.
//!
//! | module | contents | feature |
//! |---|---|---|
//! | [`content`] | a content-addressed store: bodies by their BLAKE3 hash | –; `content-sqlite`, `object-store` for its backends |
#![cfg_attr(
    feature = "sqlite",
    doc = "| [`sqlite`] | SQLite files that are identified, checked and locked | `sqlite` |"
)]
#![cfg_attr(
    feature = "runtime",
    doc = "| [`runtime`] | blocking calls of asynchronous code, from anywhere | `runtime` |"
)]
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | bodies by hash: batches, verification, tenants | `content/store.rs` |
//! | backends | `content/store.rs` (memory), `content/sqlite.rs`, `content/object_store.rs` |
//! | opening of SQLite files; schemas | `sqlite/open.rs`; `sqlite/schema.rs` |
//! | locks; network file systems | `sqlite/lock.rs`; `sqlite/paths.rs` |
//! | blocking calls of asynchronous code | `runtime.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod content;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(all(test, feature = "runtime"))]
mod tests;
