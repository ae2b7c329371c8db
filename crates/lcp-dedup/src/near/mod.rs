//! Near duplicates: texts that share nearly all of their lines (RFC 0006 §7).
//!
//! These modules do not depend on blocks. For each text, [`join`] finds a better ranked text that
//! contains all of its lines or that makes a short description of the changes possible. `lines.rs`
//! numbers equal lines, `comments.rs` strips comments, `line_sets.rs` builds sets of numbers, and
//! `similarity_join.rs` finds sets that are near. `spaces/` detects changes of white space,
//! `delta.rs` makes diffs, `changes.rs` combines both, and `restore.rs` applies them.

mod changes;
mod comments;
mod delta;
mod line_sets;
mod lines;
mod restore;
mod similarity_join;
mod spaces;
#[cfg(test)]
mod tests;

pub(crate) use changes::Changes;
pub(crate) use comments::CommentSyntax;
pub(crate) use line_sets::Document;
pub(crate) use lines::{split_lines, split_number, without_newline};
pub use restore::{RestoreError, restore};
pub(crate) use similarity_join::{JoinLimits, Match, join};
