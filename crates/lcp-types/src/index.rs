//! The columns of a pack's index: what a plan needs to know of blocks without reading
//! them (RFC 0003 §3, §4).

use std::collections::HashMap;

use crate::{Block, BlockContent, BlockMeta, BlockType, Priority, Role};

/// The index of the blocks of a pack, as columns. Blocks are named by their index in the pack,
/// which ascends in lists of pairs. Token costs are added by a caller with a tokenizer.
///
/// ```
/// use lcp_types::{Annotation, Block, BlockIndex, Priority, Role};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
/// ];
/// let index = BlockIndex::from_blocks(&blocks);
/// assert_eq!(index.priorities, [(0, Priority::High)]);
/// assert_eq!(index.newest_user, Some(0));
/// assert_eq!(index.labels.iter().collect::<Vec<_>>(), ["user", "0"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockIndex {
    /// The code of each block's type.
    pub types: Vec<u8>,
    /// Blocks of other types than annotations that are metadata.
    pub metadata: Vec<u32>,
    /// Priorities that annotations give; the others are Normal.
    pub priorities: Vec<(u32, Priority)>,
    /// Blocks that are pinned.
    pub pinned: Vec<u32>,
    /// Ranks; finite.
    pub ranks: Vec<(u32, f64)>,
    /// The names of categories that tags give.
    pub category_names: Vec<String>,
    /// Which blocks have which of these: positions in `category_names`.
    pub categories: Vec<(u32, u32)>,
    /// Tool calls and their results.
    pub calls: Vec<ToolCallEntry>,
    /// The last turn of role user.
    pub newest_user: Option<u32>,
    /// Bytes of the summaries that blocks begin with.
    pub summaries: Vec<(u32, u32)>,
    /// Pairs of a block and an annotation or alternate text of it, ascending by both.
    pub annotations: Vec<(u32, u32)>,
    /// The label of each block.
    pub labels: LabelColumn,
    /// The token costs of blocks, by encoding.
    pub costs: Vec<EncodingCosts>,
}

/// A block that is a tool call or a tool result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCallEntry {
    /// The block.
    pub block: u32,
    /// The number of the call id: blocks with the same id have the same number.
    pub id: u32,
    /// Whether the block is a tool result or a turn of role tool, not a call.
    pub is_result: bool,
}

/// The costs of the blocks of a pack in one encoding, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodingCosts {
    /// The name of the encoding, such as `o200k_base`.
    pub encoding: String,
    /// The revision of the renderer whose parts were counted.
    pub revision: u32,
    /// Tokens of each block's content with its final newline; 0 of metadata.
    pub contents: Vec<u32>,
    /// Whether each content joins a newline before it (RFC 0002 §2), as bits, the lowest
    /// first; then costs of a part are the sum of head, content and tail.
    pub joins: Vec<u8>,
    /// The costs of the parts of blocks, by mode.
    pub modes: Vec<ModeCosts>,
}

/// The costs of the parts of blocks in one mode, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeCosts {
    /// The name of the mode, such as `xml`.
    pub mode: String,
    /// Each block in full; 0 of metadata.
    pub full: Vec<u32>,
    /// The placeholder of each.
    pub line: Vec<u32>,
    /// The alternate texts of those that have them, ascending by block and level.
    pub levels: Vec<AlternateCost>,
}

/// The cost of an alternate text of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlternateCost {
    /// The block.
    pub block: u32,
    /// The level of detail.
    pub level: AlternateLevel,
    /// The tokens of the part that shows it.
    pub tokens: u32,
}

/// A level of detail between a block's content and its placeholder, the fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlternateLevel {
    /// RFC 0004 §6.
    Detailed,
    /// The block's summary.
    Summary,
    /// RFC 0004 §6.
    Tags,
}

impl AlternateLevel {
    /// Every level, by code.
    pub const ALL: [Self; 3] = [Self::Detailed, Self::Summary, Self::Tags];
}

impl BlockIndex {
    /// Builds the index of these blocks, without costs.
    #[must_use]
    pub fn from_blocks(blocks: &[Block<'_>]) -> Self {
        let mut builder = BlockIndexBuilder::default();
        for block in blocks {
            builder.push(block);
        }
        builder.finish()
    }

    /// Returns the number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the costs of the blocks in this encoding, counted by this revision.
    #[must_use]
    pub fn costs_in(&self, encoding: &str, revision: u32) -> Option<&EncodingCosts> {
        self.costs.iter().find(|costs| costs.encoding == encoding && costs.revision == revision)
    }
}

impl EncodingCosts {
    /// Returns the costs in this mode.
    #[must_use]
    pub fn mode(&self, name: &str) -> Option<&ModeCosts> {
        self.modes.iter().find(|costs| costs.mode == name)
    }
}

/// Builds a [`BlockIndex`] block by block, without holding the blocks.
#[derive(Clone, Debug, Default)]
pub struct BlockIndexBuilder {
    columns: BlockIndex,
    /// By target; of several the last one holds.
    priorities: Vec<(u64, Priority)>,
    ranks: Vec<(u64, f64)>,
    pinned: Vec<u64>,
    categories: Vec<(u64, u32)>,
    /// Call ids from tags, for blocks that have no field for one.
    tagged: Vec<(u64, u32)>,
    annotations: Vec<(u64, u32)>,
    category_numbers: HashMap<String, u32>,
    ids: HashMap<String, u32>,
    /// Turns with an id of their own.
    turns: Vec<ToolCallEntry>,
}

impl BlockIndexBuilder {
    /// Adds the next block of the stream. Blocks beyond 2³² are ignored.
    pub fn push(&mut self, block: &Block<'_>) {
        let Ok(index) = u32::try_from(self.columns.types.len()) else { return };
        self.columns.types.push(block.block_type().code());
        self.columns.labels.push(&block.label());
        if let Some(summary) = &block.summary {
            self.columns.summaries.push((index, u32::try_from(summary.len()).unwrap_or(u32::MAX)));
        }
        if let BlockContent::Conversation(turn) = &block.content {
            if turn.role == Role::User {
                self.columns.newest_user = Some(index);
            }
            if let Some(id) = turn.tool_call_id.as_deref().filter(|id| !id.is_empty()) {
                let (id, is_result) = (number(&mut self.ids, id), turn.role == Role::Tool);
                self.turns.push(ToolCallEntry { block: index, id, is_result });
            }
        }
        if !block.content.is_metadata() {
            return;
        }
        if block.block_type() != BlockType::Annotation {
            self.columns.metadata.push(index);
        }
        let Some((target, meta)) = BlockMeta::from_annotation(block).and_then(Result::ok) else {
            return;
        };
        self.annotations.push((target, index));
        if meta.annotated {
            self.priorities.push((target, meta.priority));
        }
        if let Some(rank) = meta.rank {
            self.ranks.push((target, rank));
        }
        if meta.pinned {
            self.pinned.push(target);
        }
        if let Some(category) = &meta.category {
            let number = number(&mut self.category_numbers, category);
            if number as usize == self.columns.category_names.len() {
                self.columns.category_names.push(category.to_string());
            }
            self.categories.push((target, number));
        }
        if let Some(id) = &meta.tool_call_id {
            self.tagged.push((target, number(&mut self.ids, id)));
        }
    }

    /// Adds the next block, of which only the type is known. Blocks beyond 2³² are ignored.
    pub fn push_unknown(&mut self, block_type: BlockType) {
        if u32::try_from(self.columns.types.len()).is_err() {
            return;
        }
        self.columns.types.push(block_type.code());
        self.columns.labels.push("");
    }

    /// Returns the index of the blocks that were added. Annotations of other blocks are
    /// left out.
    #[must_use]
    pub fn finish(&self) -> BlockIndex {
        let mut index = self.columns.clone();
        let blocks = index.types.len();
        index.priorities = last_of_each(&self.priorities, blocks);
        index.ranks = last_of_each(&self.ranks, blocks);
        index.categories = last_of_each(&self.categories, blocks);
        let pinned: Vec<_> = self.pinned.iter().map(|&target| (target, ())).collect();
        index.pinned = last_of_each(&pinned, blocks).into_iter().map(|(block, ())| block).collect();
        index.annotations = (self.annotations.iter())
            .filter_map(|&(target, by)| Some((within(target, blocks)?, by)))
            .collect();
        index.annotations.sort_unstable();
        let is_turn =
            |block: u32| index.types.get(block as usize) == Some(&BlockType::Conversation.code());
        // A chat turn has a field for its id; the tag is for others.
        let tagged = last_of_each(&self.tagged, blocks).into_iter();
        let tagged = tagged.filter(|(block, _)| !is_turn(*block));
        index.calls =
            tagged.map(|(block, id)| ToolCallEntry { block, id, is_result: true }).collect();
        index.calls.extend(&self.turns);
        index.calls.sort_unstable_by_key(|call| call.block);
        index
    }
}

/// Returns the number of a name, a new one if the name is new.
fn number(numbers: &mut HashMap<String, u32>, name: &str) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(name.to_owned(), number);
    number
}

/// Returns the position of a target that exists.
fn within(target: u64, blocks: usize) -> Option<u32> {
    usize::try_from(target).ok().filter(|target| *target < blocks)?;
    u32::try_from(target).ok()
}

/// Sorts by target; of several values for one target the last one remains.
fn last_of_each<T: Copy>(values: &[(u64, T)], blocks: usize) -> Vec<(u32, T)> {
    let existing = values.iter().filter_map(|&(target, of)| Some((within(target, blocks)?, of)));
    let mut last: Vec<_> = existing.collect();
    // Stable, so those of one target stay in the order of the stream.
    last.sort_by_key(|(target, _)| *target);
    last.reverse();
    last.dedup_by_key(|(target, _)| *target);
    last.reverse();
    last
}

/// The labels of blocks; a label that a recent block has is a reference to that block.
///
/// ```
/// let mut labels = lcp_types::LabelColumn::default();
/// for label in ["user", "assistant", "user"] {
///     labels.push(label);
/// }
/// assert_eq!(labels.iter().last(), Some("user"));
/// assert_eq!(labels.text(), "userassistant");
/// ```
#[derive(Clone, Debug, Default)]
pub struct LabelColumn {
    codes: Vec<u32>,
    text: String,
    /// Block, start and length of the last few labels: not part of the value.
    recent: Vec<(u32, u32, u32)>,
}

impl PartialEq for LabelColumn {
    fn eq(&self, other: &Self) -> bool {
        self.codes == other.codes && self.text == other.text
    }
}

/// The number of recent labels that are compared, and the bytes of the longest.
const RECENT_MAX: usize = 8;
const RECENT_BYTES_MAX: usize = 32;

impl LabelColumn {
    /// Appends the label of the next block.
    pub fn push(&mut self, label: &str) {
        let (Ok(index), Ok(start), Ok(len)) = (
            u32::try_from(self.codes.len()),
            u32::try_from(self.text.len()),
            u32::try_from(label.len()),
        ) else {
            return self.codes.push(0);
        };
        let label_at = |&(_, start, len): &(u32, u32, u32)| {
            self.text.as_bytes().get(start as usize..(start + len) as usize)
        };
        if let Some(at) =
            self.recent.iter().position(|known| label_at(known) == Some(label.as_bytes()))
        {
            let block = std::mem::replace(&mut self.recent[at].0, index);
            return self.codes.push((index - block) << 1 | 1);
        }
        self.text.push_str(label);
        self.codes.push(len << 1);
        if label.len() <= RECENT_BYTES_MAX && !label.is_empty() {
            if self.recent.len() == RECENT_MAX {
                self.recent.remove(0);
            }
            self.recent.push((index, start, len));
        }
    }

    /// Iterates over the labels, in the order of their blocks.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut ranges: Vec<(usize, usize)> = Vec::with_capacity(self.codes.len());
        let mut end = 0;
        self.codes.iter().enumerate().map(move |(index, code)| {
            let value = (code >> 1) as usize;
            let range = if code & 1 == 0 {
                end += value;
                (end - value, end)
            } else {
                ranges[index - value]
            };
            ranges.push(range);
            &self.text[range.0..range.1]
        })
    }

    /// Returns a code for each block: twice the length of its label in [`Self::text`], or 1
    /// plus twice the distance to the earlier block with the same label.
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Returns the labels that are not references, one after the other.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Builds the column from its codes and its text; `None` if they are inconsistent.
    #[must_use]
    pub fn from_parts(codes: Vec<u32>, text: String) -> Option<Self> {
        let mut end = 0usize;
        for (index, code) in codes.iter().enumerate() {
            let value = (code >> 1) as usize;
            if code & 1 == 0 {
                end = end.checked_add(value).filter(|end| text.is_char_boundary(*end))?;
            } else if value == 0 || value > index {
                return None;
            }
        }
        (end == text.len()).then_some(Self { codes, text, recent: Vec::new() })
    }
}
