//! Texts that share nearly all of their lines (RFC 0006 §7).
//!
//! Nothing here knows of blocks. [`join`] finds, for each text, a better ranked one
//! that holds all of its lines or that it can be shown as a diff of: `sets.rs` makes
//! sets of lines (`intern.rs`: which are the same), `index.rs` remembers the rarest of them, `join.rs` looks for sets
//! that are near, `verify.rs` and `delta.rs` decide on bytes.

mod delta;
mod index;
mod intern;
mod join;
#[cfg(test)]
mod laws;
mod lines;
mod restore;
mod sets;
mod verify;

pub(crate) use join::{Found, Terms, Text, join};
pub use restore::{RestoreError, restore};
