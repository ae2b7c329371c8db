//! Metadata of blocks, from annotations and from the duplicates that they cover.

use std::borrow::Cow;

use lcp_types::{AnnotationErrorKind, Block, BlockMeta, DuplicateKind, Priority, Replacements};

use crate::config::DriverConfig;
use crate::warning::{Warning, WarningCode};

/// Returns the priority of each block (SPEC_08 §4).
///
/// The last valid PRIORITY annotation of a block wins. A block without one is Normal, and so are
/// the annotations themselves. Invalid values and targets are ignored; a plan warns of them.
///
/// ```
/// use lcp_driver::resolve_priorities;
/// use lcp_types::{Annotation, Block, Priority, Role};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
/// ];
/// assert_eq!(resolve_priorities(&blocks), [Priority::High, Priority::Normal]);
/// ```
#[must_use]
pub fn resolve_priorities(blocks: &[Block<'_>]) -> Vec<Priority> {
    BlockMeta::resolve_all(blocks, &mut |_, _| {}).into_iter().map(|meta| meta.priority).collect()
}

/// Resolves the annotations of each block, including those of the blocks that it covers (RFC 0006
/// §2). With `line_numbers`, lines are shown with their numbers.
pub(crate) fn resolve<'b>(
    blocks: &'b [Block<'_>],
    duplicates: Option<&Replacements>,
    line_numbers: bool,
    warnings: &mut Vec<Warning>,
) -> Vec<BlockMeta<'b>> {
    let mut metas = BlockMeta::resolve_all(blocks, &mut |index, problem| {
        let code = WarningCode::from(problem.kind);
        warnings.push(Warning::new(code, Some(index), problem.to_string()));
    });
    if let Some(duplicates) = duplicates {
        duplicates.inherit_metadata(blocks, &mut metas);
    }
    for meta in &mut metas {
        meta.line_numbers = line_numbers;
    }
    metas
}

/// Returns the valid part of the duplicates in `config`. The covering block must be another block
/// of the pack, have a requested type, and have its own content. Otherwise content would be lost,
/// so the covered block is planned as if it were not a duplicate (RFC 0006 §2).
pub(crate) fn valid_duplicates<'c>(
    blocks: &[Block<'_>],
    config: &'c DriverConfig,
) -> Option<Cow<'c, Replacements>> {
    let all = config.duplicates.as_ref()?;
    let is_there = |i: usize| {
        blocks.get(i).is_some_and(|block| !block.content.is_metadata() && config.asks_for(block))
    };
    // A line that refers to another block has none of the content that it replaces.
    let has_its_own = |by: usize| {
        all.covered.get(&by).is_none_or(|covered| {
            let own = matches!(covered.relation, DuplicateKind::Overlapping | DuplicateKind::Near);
            covered.in_place && own
        })
    };
    let holds =
        |index: usize, by: usize| index != by && is_there(index) && is_there(by) && has_its_own(by);
    let named = all.covered.iter().map(|(&index, covered)| (index, covered.by));
    if named.chain(all.shared.iter().copied()).all(|(index, by)| holds(index, by)) {
        return Some(Cow::Borrowed(all));
    }
    let mut valid = all.clone();
    valid.covered.retain(|&index, covered| holds(index, covered.by));
    valid.shared.retain(|&(index, by)| holds(index, by));
    Some(Cow::Owned(valid))
}

impl From<AnnotationErrorKind> for WarningCode {
    fn from(kind: AnnotationErrorKind) -> Self {
        match kind {
            AnnotationErrorKind::BadTarget => Self::BadTarget,
            AnnotationErrorKind::BadPriority => Self::BadPriority,
            AnnotationErrorKind::UnknownExtension => Self::UnknownBlockType,
            _ => Self::BadAnnotation,
        }
    }
}
