//! No token spent twice, nothing unique lost: finds the blocks of a pack that
//! others cover (RFC 0006).
//!
//! [`dedup`] is all of it in one call. What it gives is plain data: a driver takes
//! it in its configuration and renders the rest, or [`Deduplicated::pack`] makes a
//! pack of it.
//!
//! | look for | in |
//! |---|---|
//! | what is looked for, which of two stays | [`Options`] |
//! | what was found, before tokens are counted | [`find`], [`Found`] |
//! | the result | [`Deduplicated`], [`Replacements`](lcp_types::Replacements) |
//! | a text that became a diff, again | [`restore`] |
//!
//! ```
//! use lcp_dedup::{Level, Options, dedup};
//! use lcp_tokens::HeuristicEstimator;
//! use lcp_types::{Block, Lang, DuplicateKind};
//!
//! let file: Vec<_> = (1..=75).map(|n| format!("line {n}\n")).collect();
//! let lines = |from: usize, to: usize| {
//!     let (first, last) = (u32::try_from(from).unwrap(), u32::try_from(to).unwrap());
//!     Block::code_lines(Lang::Rust, "a.rs", file[from - 1..to].concat(), first, last)
//! };
//! let blocks = [lines(1, 50), lines(25, 75), lines(1, 50)];
//! let found = dedup(&blocks, &Options::new(Level::Overlap), &HeuristicEstimator)?;
//! assert_eq!(found.pack(&blocks), [lines(1, 75)]);
//! assert_eq!(found.duplicates.covered[&1].relation, DuplicateKind::Overlapping);
//! assert_eq!(found.duplicates.covered[&2].relation, DuplicateKind::Equal);
//! # Ok::<(), lcp_dedup::DedupError>(())
//! ```

mod apply;
mod chunks;
mod equal;
mod error;
mod find;
mod lines;
mod near;
mod options;
mod overlap;
mod paths;
mod reference;
mod sources;
mod superseded;
mod work;

use lcp_tokens::TokenEstimator;
use lcp_types::Block;

pub use apply::Deduplicated;
pub use error::DedupError;
pub use find::{Found, find};
pub use near::{RestoreError, restore};
pub use options::{Keep, Level, Options};
pub use overlap::BadRange;

/// Finds which of `blocks` cover others, and makes what is left of those.
///
/// # Errors
///
/// [`DedupError`] if an option is out of its range.
pub fn dedup<'a>(
    blocks: &[Block<'a>],
    options: &Options,
    estimator: &dyn TokenEstimator,
) -> Result<Deduplicated<'a>, DedupError> {
    find(blocks, options, estimator).map(|found| found.apply(blocks, estimator))
}
