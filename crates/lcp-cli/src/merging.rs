//! Several packs as one (RFC 0010 §6).

use lcp_continuity::moved_index;
use lcp_types::{Block, BlockContent, HANDOFF_TYPE_NAME, Level};

/// The blocks of all packs, one pack behind the other.
///
/// What speaks of a block by its index (annotations, levels, the index of a hand-off)
/// speaks of the same block afterwards; what spoke of none in its own pack still speaks
/// of none. All else stays as it is.
///
/// ```
/// use lcp_cli::merging::merge;
/// use lcp_types::{Annotation, Block, Priority, Role};
///
/// let pack = |text: &'static str| {
///     vec![
///         Block::conversation(Role::User, text),
///         Block::new(Annotation::priority(0, Priority::High)),
///     ]
/// };
/// let merged = merge(vec![pack("a"), pack("b")]);
/// assert_eq!(merged.iter().filter_map(Block::target).collect::<Vec<_>>(), [0, 2]);
/// ```
pub fn merge<'a>(packs: Vec<Vec<Block<'a>>>) -> Vec<Block<'a>> {
    let total: usize = packs.iter().map(Vec::len).sum();
    let mut merged = Vec::with_capacity(total);
    for pack in packs {
        let (before, own) = (merged.len() as u64, pack.len() as u64);
        // Beyond its own pack there was nothing, and behind all of them there is nothing.
        let to = |target: u64| match target.checked_sub(own) {
            None => before + target,
            Some(beyond) => (total as u64).saturating_add(beyond),
        };
        merged.extend(pack.into_iter().map(|block| moved(block, to)));
    }
    merged
}

fn moved<'a>(mut block: Block<'a>, to: impl Fn(u64) -> u64) -> Block<'a> {
    if let BlockContent::Extension(extension) = &mut block.content
        && extension.namespace == Level::NAMESPACE
        && extension.type_name == HANDOFF_TYPE_NAME
        && let Some(content) = moved_index(extension.content.as_slice(), &to)
    {
        extension.content = content.into();
        return block;
    }
    block.retargeted(to)
}
