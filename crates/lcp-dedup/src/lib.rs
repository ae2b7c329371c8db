//! Deduplication of packs: detects blocks that others cover, without losing unique content
//! (RFC 0006).
//!
//! [`dedup`] does everything in one call. Its result is plain data: pass it to a driver in the
//! configuration, or convert it to the blocks of a smaller pack with
//! [`DedupResult::to_pack_blocks`].
//!
//! | topic | item |
//! |---|---|
//! | options | [`Options`], [`DedupLevel`], [`Survivor`] |
//! | detection without token counts | [`detect()`], [`Detected`] |
//! | the result | [`DedupResult`], [`Replacements`](lcp_types::Replacements) |
//! | restoring a text from its changes | [`restore`] |
//!
//! ```
//! use lcp_dedup::{DedupLevel, Options, dedup};
//! use lcp_tokens::HeuristicEstimator;
//! use lcp_types::{Block, Lang, DuplicateKind};
//!
//! let file: Vec<_> = (1..=75).map(|n| format!("line {n}\n")).collect();
//! let lines = |from: usize, to: usize| {
//!     let (first, last) = (u32::try_from(from).unwrap(), u32::try_from(to).unwrap());
//!     Block::code_lines(Lang::Rust, "a.rs", file[from - 1..to].concat(), first, last)
//! };
//! let blocks = [lines(1, 50), lines(25, 75), lines(1, 50)];
//! let found = dedup(&blocks, &Options::new(DedupLevel::Overlap), &HeuristicEstimator)?;
//! assert_eq!(found.to_pack_blocks(&blocks), [lines(1, 75)]);
//! assert_eq!(found.duplicates.covered[&1].relation, DuplicateKind::Overlapping);
//! assert_eq!(found.duplicates.covered[&2].relation, DuplicateKind::Equal);
//! # Ok::<(), lcp_dedup::DedupError>(())
//! ```
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | options | `options.rs` |
//! | steps and their result | `detect.rs`; ranks and replacements: `state.rs` |
//! | blocks by path; changes of a file between two reads | `paths.rs`; `origin.rs` |
//! | exact duplicates | `exact.rs` |
//! | stale reads; results of repeated calls | `stale.rs`; `repeated_calls.rs` |
//! | overlapping chunks of a file | `chunks.rs`, `overlap/`: merging in `merge.rs`, trimming in `trim.rs` |
//! | near duplicates | `near/`: `lines.rs`, `comments.rs`, `line_sets.rs`, `similarity_join.rs`; changes: `changes.rs`, `spaces/`, `delta.rs`; restoring: `restore.rs` |
//! | white space and comments of languages | `languages.rs` |
//! | stubs in place of covered blocks | `stub.rs` |
//! | new texts, saved tokens, the smaller pack | `apply.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod apply;
mod chunks;
mod detect;
mod exact;
mod languages;
mod near;
mod options;
mod origin;
mod overlap;
mod paths;
mod repeated_calls;
mod stale;
mod state;
mod stub;

use lcp_tokens::TokenEstimator;
use lcp_types::Block;

pub use apply::DedupResult;
pub use detect::{Detected, detect};
pub use near::{RestoreError, restore};
pub use options::{DedupError, DedupLevel, Options, Survivor};
pub use overlap::LineRangeError;

/// Detects which of `blocks` cover others, and builds the remaining blocks.
///
/// # Errors
///
/// Returns a [`DedupError`] if an option is out of range.
pub fn dedup<'a>(
    blocks: &[Block<'a>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<DedupResult<'a>, DedupError> {
    detect(blocks, options, estimator).map(|found| found.apply(blocks, estimator))
}
