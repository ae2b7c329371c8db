//! What is said of blocks: by annotations, and by what they cover.

use lcp_types::{AnnotationErrorKind, Block, BlockMeta, Priority, Replacements};

use crate::warning::{Warning, WarningCode};

/// The priority of each block (SPEC_08 §4).
///
/// The last valid PRIORITY annotation for a block wins. A block without one is
/// Normal; annotations themselves are, too. Bad values and targets are ignored
/// (a plan warns of them).
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

/// What the pack says of each block, and what blocks take over from those that
/// they cover (RFC 0006 §2).
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
