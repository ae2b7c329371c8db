//! Merging packs (RFC 0010 §6), and the index of a hand-off, which names blocks (RFC 0007).

use std::collections::HashMap;

use lcp_types::{
    Annotation, Block, BlockContent, CarriedLevel, HANDOFF_INDEX_VERSION, HANDOFF_TYPE_NAME, Tag,
};
use serde_json::Value;

/// Concatenates the blocks of all packs.
///
/// Targets of annotations, alternate texts and hand-offs are renumbered; a missing target remains
/// missing. Message numbers, and ranks equal to them, continue from pack to pack.
///
/// ```
/// use lcp_packfile::merge;
/// use lcp_types::{Annotation, Block, Priority, Role};
///
/// let pack = |text: &'static str| {
///     vec![
///         Block::conversation(Role::User, text),
///         Block::new(Annotation::priority(0, Priority::High)),
///     ]
/// };
/// let merged = merge(vec![pack("a"), pack("b")]);
/// assert_eq!(merged.iter().filter_map(Block::target_index).collect::<Vec<_>>(), [0, 2]);
/// ```
pub fn merge(packs: Vec<Vec<Block<'_>>>) -> Vec<Block<'_>> {
    let total: usize = packs.iter().map(Vec::len).sum();
    let mut merged = Vec::with_capacity(total);
    let mut messages = 0;
    for pack in packs {
        let (before, own) = (merged.len() as u64, pack.len() as u64);
        let first = messages;
        let numbers: HashMap<u64, u64> = message_numbers(&pack).collect();
        messages = message_numbers(&pack)
            .filter_map(|(_, number)| number.checked_add(first)?.checked_add(1))
            .fold(messages, u64::max);
        // A target beyond the end of its own pack is moved beyond the end of the merged pack.
        let to = |target: u64| match target.checked_sub(own) {
            None => before + target,
            Some(beyond) => (total as u64).saturating_add(beyond),
        };
        merged.extend(
            pack.into_iter().map(|block| retarget(renumber_message(block, first, &numbers), to)),
        );
    }
    merged
}

/// Returns the indices of hand-off indices that [`merge`] cannot renumber, because they are damaged
/// or from a newer version. Such blocks remain unchanged.
pub fn unreadable_handoffs<'b>(pack: &'b [Block<'_>]) -> impl Iterator<Item = usize> + 'b {
    let is_unreadable = |block: &Block<'_>| {
        handoff_index(block)
            .is_some_and(|content| renumber_handoff_index(content, |at| at).is_none())
    };
    pack.iter().enumerate().filter(move |(_, block)| is_unreadable(block)).map(|(index, _)| index)
}

/// Returns the indices of blocks that are parts of messages, each with its message number.
pub(crate) fn message_numbers(blocks: &[Block<'_>]) -> impl Iterator<Item = (u64, u64)> {
    blocks.iter().filter_map(|block| {
        let annotation = block.as_annotation()?;
        let tag = annotation.as_tag().filter(|tag| tag.key == Tag::MESSAGE)?;
        Some((annotation.target_block_id, tag.value?.parse().ok()?))
    })
}

/// Adds `first` to a message number, or to a rank that equals the message number of its target.
fn renumber_message<'b>(block: Block<'b>, first: u64, numbers: &HashMap<u64, u64>) -> Block<'b> {
    let Some((target, tag)) =
        block.target_index().zip(block.as_annotation().and_then(Annotation::as_tag))
    else {
        return block;
    };
    let number = tag.value.as_deref().and_then(|value| value.parse::<u64>().ok());
    let is_one = tag.key == Tag::MESSAGE
        || tag.key == Tag::RANK && number.is_some() && numbers.get(&target).copied() == number;
    match number.filter(|_| is_one && first > 0).and_then(|of| of.checked_add(first)) {
        Some(number) => {
            let tag = Tag::new(tag.key.into_owned(), number.to_string());
            Block { content: Annotation::tag(target, &tag).into(), ..block }
        }
        None => block,
    }
}

/// Returns the block with its targets replaced by `to(target)`.
pub(crate) fn retarget(mut block: Block<'_>, to: impl Fn(u64) -> u64) -> Block<'_> {
    let index = handoff_index(&block).and_then(|content| renumber_handoff_index(content, &to));
    if let (Some(content), BlockContent::Extension(extension)) = (index, &mut block.content) {
        extension.content = content.into();
        return block;
    }
    block.with_target(to)
}

/// Returns the content of a block that is the index of a hand-off.
pub fn handoff_index<'b>(block: &'b Block<'_>) -> Option<&'b [u8]> {
    let extension = block.as_extension()?;
    (extension.namespace == CarriedLevel::NAMESPACE && extension.type_name == HANDOFF_TYPE_NAME)
        .then(|| extension.content.as_slice())
}

/// Returns the content of a hand-off index with every block index replaced by `to(index)`. Returns
/// `None` if the content is malformed or from a newer version.
pub fn renumber_handoff_index(content: &[u8], mut to: impl FnMut(u64) -> u64) -> Option<Vec<u8>> {
    let mut index: Value = serde_json::from_slice(content).ok()?;
    let members = index.as_object_mut()?;
    let version = members.get("version").and_then(Value::as_u64);
    version.filter(|version| *version <= HANDOFF_INDEX_VERSION)?;
    let mut renumber = |value: Option<&mut Value>| {
        if let Some((block, index)) = value.and_then(|index| Some((index.as_u64()?, index))) {
            *index = to(block).into();
        }
    };
    for name in ["intent", "summary"] {
        renumber(members.get_mut(name));
    }
    for name in ["tasks", "anchors", "recent"] {
        let items = members.get_mut(name).and_then(Value::as_array_mut);
        items.into_iter().flatten().for_each(|item| renumber(item.get_mut("block")));
    }
    renumber(members.get_mut("state").and_then(|state| state.get_mut("block")));
    serde_json::to_vec(&index).ok()
}
