//! The public behavior of the crate.

mod content;
#[cfg(feature = "sqlite")]
mod sqlite;
