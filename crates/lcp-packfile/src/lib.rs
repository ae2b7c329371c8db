//! Operations on LCP packs as files: scan, append, annotate, merge, compare, recover, validate.
//!
//! | operation | function |
//! |---|---|
//! | read all readable parts of a damaged pack | [`PackScan`] |
//! | append blocks to a pack | [`append`], and [`journal`] to do so in place |
//! | set properties of blocks | [`annotate`], [`Properties`] |
//! | concatenate packs | [`merge`] |
//! | compare packs | [`diff`] |
//! | recover the undamaged blocks of a pack | [`recover`] |
//! | find all problems in a pack | [`validate`] |
//!
//! All operations except [`journal`] take and return bytes or blocks. A pack that grows is read one
//! block at a time.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | reading of damaged packs | `scan.rs` |
//! | appending and annotating: the new bytes; in place | `append.rs`; `journal/` |
//! | properties of blocks | `properties.rs` |
//! | merging; the index of a hand-off | `merge.rs` |
//! | pairs of blocks in two packs | `diff.rs` |
//! | recovery | `recover/`: `salvage.rs`, renumbering in `rewrite.rs` |
//! | validation | `validate/` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    clippy::must_use_candidate,
    reason = "all functions but those of the journal are free of side effects"
)]

mod append;
mod diff;
mod error;
pub mod journal;
mod merge;
mod properties;
mod recover;
mod scan;
mod validate;

pub use append::{
    AnnotateOptions, AppendInput, AppendOptions, AppendResult, ChangeBlocks, CountCosts, annotate,
    append,
};
pub use diff::{BlockPair, Change, DiffSide, diff};
pub use error::Error;
pub use merge::{handoff_index, merge, renumber_handoff_index, unreadable_handoffs};
pub use properties::Properties;
pub use recover::{LostRange, Recovery, recover};
pub use scan::{PackScan, ScannedFrame, is_reference};
pub use validate::{Check, Problem, Report, ValidateOptions, validate, validate_source};
