//! Annotates blocks of an existing pack (RFC 0012 §9).

use lcp_decoder::ReadAt;
use lcp_types::{Annotation, Block};

use crate::append::{AppendResult, CountCosts, OldPack, check_in_place};
use crate::error::Error;

/// Options of [`annotate`].
#[derive(Clone, Copy, Default)]
pub struct AnnotateOptions<'a> {
    /// `true` if the end of the pack will be [replaced](crate::journal::replace_tail). Packs with
    /// the magic `BCP\0` or a compressed payload are then rejected.
    pub in_place: bool,
    /// A function that computes the costs for the index, as for
    /// [`append`](crate::AppendOptions::count_costs).
    pub count_costs: Option<&'a CountCosts<'a>>,
}

/// Adds annotations to the end of the pack `old`. The pack keeps its form: magic, compression, and
/// an index if it had one. All existing blocks remain unchanged byte for byte.
///
/// # Errors
///
/// Returns [`Error`] if the pack cannot be read, is malformed, damaged or from a newer version, if it
/// cannot change in place, or if it would exceed a limit.
pub fn annotate<S: ReadAt + ?Sized>(
    old: &S,
    annotations: impl IntoIterator<Item = Annotation<'static>>,
    options: &AnnotateOptions<'_>,
) -> Result<AppendResult, Error> {
    let old = OldPack::open(old)?;
    if options.in_place {
        check_in_place(&old.scan)?;
    }
    let added = annotations.into_iter().map(|annotation| (Block::new(annotation), None)).collect();
    old.extend(added, old.scan.encode_options(), options.count_costs, Vec::new())
}
