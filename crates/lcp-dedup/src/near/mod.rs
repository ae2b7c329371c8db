//! Near duplicates: texts that share nearly all of their lines (RFC 0006 §7).
//!
//! These modules do not depend on blocks. For each text, [`join`] finds a better ranked text that
//! contains all of its lines or that makes a short diff possible. `lines.rs` numbers equal lines,
//! `line_sets.rs` builds sets of these numbers, `similarity_join.rs` finds sets that are near,
//! `delta.rs` makes the diffs and `restore.rs` applies them.

mod delta;
mod line_sets;
mod lines;
mod restore;
mod similarity_join;
#[cfg(test)]
mod tests;

pub(crate) use line_sets::Document;
pub use restore::{RestoreError, restore};
pub(crate) use similarity_join::{JoinLimits, Match, join};
