//! The public behavior of the crate.

mod content;
#[cfg(feature = "content-sqlite")]
mod examples;
#[cfg(feature = "sqlite")]
mod sqlite;
