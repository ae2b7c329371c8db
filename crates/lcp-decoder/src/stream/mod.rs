//! Packs that are read: loops around the parser, which does no I/O itself.
//!
//! `buffer.rs` has all that they share: what was read and not yet parsed, and how
//! much to read before it is worth to parse again.

#[cfg(feature = "tokio")]
mod asynchronous;
mod buffer;
mod error;
mod read;

#[cfg(feature = "tokio")]
pub use asynchronous::AsyncPackStream;
pub use error::StreamError;
pub use read::PackStream;
