//! Comparison of two packs: pairs the blocks of one pack with those of the other (RFC 0010 §6).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use lcp_types::{Annotation, AnnotationKind, Block, BlockMeta, Tag};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::merge::message_numbers;

/// One of the two packs in a comparison.
#[derive(Debug)]
pub struct DiffSide<'b> {
    /// The blocks of the pack.
    pub blocks: &'b [Block<'b>],
    /// The metadata of each block, without ranks that equal the number of the message.
    pub metas: Vec<BlockMeta<'b>>,
    /// The annotations of each block that do not affect budgeting.
    others: Vec<BTreeSet<(u8, &'b [u8])>>,
}

/// The change of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The block is only in the second pack.
    Added,
    /// The block is only in the first pack.
    Removed,
    /// The block is in both packs.
    Common,
}

/// A block of one pack, or a pair of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPair {
    /// The index in the first pack.
    pub a: Option<usize>,
    /// The index in the second pack.
    pub b: Option<usize>,
    /// The names of the parts that differ.
    pub changed: Vec<&'static str>,
    /// `true` if the position relative to the other common blocks has changed.
    pub moved: bool,
}

impl BlockPair {
    /// Returns the kind of change.
    pub fn change(&self) -> Change {
        match (self.a, self.b) {
            (Some(_), Some(_)) => Change::Common,
            (None, _) => Change::Added,
            (_, None) => Change::Removed,
        }
    }

    /// Returns whether the block differs in any way between the packs.
    pub fn has_changed(&self) -> bool {
        self.change() != Change::Common || self.moved || !self.changed.is_empty()
    }
}

impl<'b> DiffSide<'b> {
    /// Reads the metadata of these blocks.
    pub fn new(blocks: &'b [Block<'b>]) -> Self {
        let mut others = vec![BTreeSet::new(); blocks.len()];
        for annotation in blocks.iter().filter_map(Block::as_annotation) {
            let of_block = usize::try_from(annotation.target_block_id).ok();
            if let Some(others) = of_block.and_then(|at| others.get_mut(at))
                && is_other(annotation)
            {
                others.insert((annotation.kind.code(), annotation.value.as_slice()));
            }
        }
        let mut metas = BlockMeta::resolve_all(blocks, &mut |_, _| {});
        for (at, number) in message_numbers(blocks) {
            let Some(meta) = usize::try_from(at).ok().and_then(|at| metas.get_mut(at)) else {
                continue;
            };
            // Such a rank changes for all later messages when a message is inserted, so it is
            // ignored.
            if meta.rank.is_some_and(|rank| rank.to_string() == number.to_string()) {
                meta.rank = None;
            }
        }
        Self { blocks, metas, others }
    }

    /// Returns the indices of blocks that are shown, grouped by type and label, in pack order.
    fn groups(&self) -> BTreeMap<(u8, Cow<'_, str>), Vec<usize>> {
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, block) in self.blocks.iter().enumerate() {
            if !block.content.is_metadata() {
                let key = (block.block_type().code(), self.metas[index].label(block));
                groups.entry(key).or_default().push(index);
            }
        }
        groups
    }
}

/// Returns whether [`BlockMeta`] ignores the annotation. Message numbers are excluded.
fn is_other(annotation: &Annotation<'_>) -> bool {
    match annotation.as_tag() {
        Some(tag) => {
            let known = [
                Tag::CATEGORY,
                Tag::RANK,
                Tag::PASSAGES,
                Tag::REASON,
                Tag::PINNED,
                Tag::TOOL_CALL_ID,
                Tag::ARGS,
                Tag::MESSAGE,
                Tag::PATH,
            ];
            !known.contains(&tag.key.as_ref())
        }
        None => !matches!(annotation.kind, AnnotationKind::Priority | AnnotationKind::Summary),
    }
}

/// Pairs the blocks of two packs by type and label, beginning with blocks of equal content.
///
/// The result is in the order of the second pack. Removed blocks follow their predecessor.
pub fn diff(a: &DiffSide<'_>, b: &DiffSide<'_>) -> Vec<BlockPair> {
    let (of_a, mut of_b) = (a.groups(), b.groups());
    let mut pairs = Vec::new();
    for (key, in_a) in &of_a {
        let in_b = of_b.remove(key).unwrap_or_default();
        pair_group(a, b, in_a, &in_b, &mut pairs);
    }
    pairs.extend(of_b.into_values().flatten().map(|index| (None, Some(index))));
    let mut pairs: Vec<_> = pairs.into_iter().map(|(at, to)| pair(a, b, at, to)).collect();
    mark_moved(&mut pairs);
    in_order(pairs)
}

type Indices = (Option<usize>, Option<usize>);

/// Pairs the blocks of one type and label.
fn pair_group(
    a: &DiffSide<'_>,
    b: &DiffSide<'_>,
    of_a: &[usize],
    of_b: &[usize],
    pairs: &mut Vec<Indices>,
) {
    let contents_a: Vec<_> = of_a.iter().map(|at| &a.blocks[*at].content).collect();
    let contents_b: Vec<_> = of_b.iter().map(|at| &b.blocks[*at].content).collect();
    for op in capture_diff_slices(Algorithm::Myers, &contents_a, &contents_b) {
        let (old, new) = (&of_a[op.old_range()], &of_b[op.new_range()]);
        let both = old.iter().zip(new).map(|(at, to)| (Some(*at), Some(*to)));
        pairs.extend(both);
        let common = old.len().min(new.len());
        debug_assert!(!matches!(op, DiffOp::Equal { .. }) || old.len() == new.len());
        pairs.extend(old[common..].iter().map(|at| (Some(*at), None)));
        pairs.extend(new[common..].iter().map(|to| (None, Some(*to))));
    }
}

fn pair(a: &DiffSide<'_>, b: &DiffSide<'_>, at: Option<usize>, to: Option<usize>) -> BlockPair {
    let mut changed = Vec::new();
    if let (Some(at), Some(to)) = (at, to) {
        let (old, new) = (&a.metas[at], &b.metas[to]);
        let differences = [
            ("content", a.blocks[at].content != b.blocks[to].content),
            ("summary", old.summary != new.summary),
            ("levels", (&old.detailed, &old.tags) != (&new.detailed, &new.tags)),
            ("priority", old.priority != new.priority),
            ("category", old.category != new.category),
            ("rank", old.rank != new.rank),
            ("passages", old.passages != new.passages),
            ("reasons", old.reasons != new.reasons),
            ("pinned", old.pinned != new.pinned),
            ("tool_call", (&old.tool_call_id, &old.args) != (&new.tool_call_id, &new.args)),
            ("annotations", a.others[at] != b.others[to]),
        ];
        changed.extend(differences.iter().filter(|(_, differs)| *differs).map(|(what, _)| *what));
    }
    BlockPair { a: at, b: to, changed, moved: false }
}

/// Marks the smallest set of pairs as moved such that all other pairs are in the same order.
fn mark_moved(pairs: &mut [BlockPair]) {
    let mut both: Vec<(usize, usize, usize)> =
        pairs.iter().enumerate().filter_map(|(row, pair)| Some((pair.a?, pair.b?, row))).collect();
    both.sort_unstable();
    // Finds the longest increasing subsequence. `ends` has the lowest possible end for each length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(both.len());
    for (at, (_, to, _)) in both.iter().enumerate() {
        let length = ends.partition_point(|end| both[*end].1 < *to);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut stayed = vec![false; both.len()];
    let mut next = ends.last().copied();
    while let Some(at) = next {
        stayed[at] = true;
        next = before[at];
    }
    for ((_, _, row), _) in both.iter().zip(&stayed).filter(|(_, stayed)| !**stayed) {
        pairs[*row].moved = true;
    }
}

/// Sorts the pairs by the second pack, with removed blocks after their predecessor in the first
/// pack.
fn in_order(pairs: Vec<BlockPair>) -> Vec<BlockPair> {
    let mut kept: Vec<(usize, usize)> = pairs
        .iter()
        .filter(|pair| !pair.moved)
        .filter_map(|pair| Some((pair.a?, pair.b?)))
        .collect();
    kept.sort_unstable();
    let sort_key = |pair: &BlockPair| match (pair.a, pair.b) {
        (_, Some(b)) => (b + 1, 0, 0),
        (Some(a), None) => {
            let before = kept.partition_point(|(at, _)| *at < a);
            (before.checked_sub(1).map_or(0, |last| kept[last].1 + 1), 1, a)
        }
        (None, None) => (0, 0, 0),
    };
    let mut pairs = pairs;
    pairs.sort_by_cached_key(sort_key);
    pairs
}
