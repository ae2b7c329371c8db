//! What is said of blocks: by annotations, and by what they cover.

use std::borrow::Cow;

use lcp_types::{AnnotationErrorKind, Block, BlockMeta, DuplicateKind, Priority, Replacements};

use crate::config::DriverConfig;
use crate::warning::{Warning, WarningCode};

/// The priority of each block (SPEC_08 §4).
///
/// The last valid PRIORITY annotation for a block wins. A block without one is Normal; annotations
/// themselves are, too. Bad values and targets are ignored (a plan warns of them).
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

/// Resolves the annotations of each block, and of those that it covers (RFC 0006 §2).
pub(crate) fn resolve<'b>(
    blocks: &'b [Block<'_>],
    duplicates: Option<&Replacements>,
    warnings: &mut Vec<Warning>,
) -> Vec<BlockMeta<'b>> {
    let mut metas = BlockMeta::resolve_all(blocks, &mut |index, problem| {
        let code = WarningCode::from(problem.kind);
        warnings.push(Warning::new(code, Some(index), problem.to_string()));
    });
    if let Some(duplicates) = duplicates {
        duplicates.inherit_metadata(blocks, &mut metas);
    }
    metas
}

/// Returns the valid part of the duplicates in `config`: a block must be covered by another one
/// that is in the pack, is asked for, and is not removed itself. Otherwise content would be lost,
/// so such a block is planned as if nothing covered it (RFC 0006 §2).
pub(crate) fn valid_duplicates<'c>(
    blocks: &[Block<'_>],
    config: &'c DriverConfig,
) -> Option<Cow<'c, Replacements>> {
    let all = config.duplicates.as_ref()?;
    let is_there = |i: usize| {
        blocks.get(i).is_some_and(|block| !block.content.is_metadata() && config.asks_for(block))
    };
    // A line that refers to another block has nothing of what it stands for.
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
