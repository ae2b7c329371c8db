//! The columns of the index of a pack: the properties of blocks that planning needs, available
//! without reading the blocks (RFC 0003 §3, §4).

use std::collections::HashMap;

use crate::{Block, BlockContent, BlockMeta, BlockType, Priority, Role};

/// The index of the blocks of a pack, stored as columns.
///
/// Blocks are identified by their index in the pack, and lists of pairs are sorted by it. Callers
/// with a tokenizer can add token costs.
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
    /// The blocks that are metadata but not annotations.
    pub metadata: Vec<u32>,
    /// The priorities that annotations set. Other blocks have [`Priority::Normal`].
    pub priorities: Vec<(u32, Priority)>,
    /// The blocks that are pinned.
    pub pinned: Vec<u32>,
    /// The ranks of blocks. All are finite.
    pub ranks: Vec<(u32, f64)>,
    /// The blocks with passages.
    pub passages: Vec<u32>,
    /// The names of the categories that tags assign.
    pub category_names: Vec<String>,
    /// The categories of blocks, as positions in `category_names`.
    pub categories: Vec<(u32, u32)>,
    /// The tool calls and their results.
    pub calls: Vec<ToolCallEntry>,
    /// The last turn with the role [`Role::User`].
    pub newest_user: Option<u32>,
    /// The blocks with a summary of their own, and the length of that summary in bytes.
    pub summaries: Vec<(u32, u32)>,
    /// The pairs of a block and an annotation or alternate text for it, sorted by both.
    pub annotations: Vec<(u32, u32)>,
    /// The label of every block.
    pub labels: LabelColumn,
    /// The token costs of the blocks, for each encoding.
    pub costs: Vec<EncodingCosts>,
}

/// A block that is a tool call or a tool result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolCallEntry {
    /// The index of the block.
    pub block: u32,
    /// The number of the call id. Blocks with the same call id have the same number.
    pub id: u32,
    /// `true` for a tool result or a turn with the role [`Role::Tool`], `false` for a call.
    pub is_result: bool,
}

/// The costs of the blocks of a pack in one encoding, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodingCosts {
    /// The name of the encoding, such as `o200k_base`.
    pub encoding: String,
    /// The revision of the renderer whose output was counted.
    pub revision: u32,
    /// The tokens of each block's content with its final newline; 0 for metadata.
    pub contents: Vec<u32>,
    /// A bit for each content, lowest bit first: whether a newline before it leaves its token count
    /// unchanged (the join rule of RFC 0002 §2). If so, the cost of a rendered block is the sum of
    /// its head, content and tail.
    pub joins: Vec<u8>,
    /// The costs of the rendered blocks, for each mode.
    pub modes: Vec<ModeCosts>,
}

/// The costs of the rendered blocks in one mode, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeCosts {
    /// The name of the mode, such as `xml`.
    pub mode: String,
    /// The cost of each block in full; 0 for metadata.
    pub full: Vec<u32>,
    /// The cost of the placeholder of each block.
    pub line: Vec<u32>,
    /// The costs of alternate texts, for the blocks that have them, sorted by block and level.
    pub levels: Vec<AlternateCost>,
}

/// The cost of an alternate text of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AlternateCost {
    /// The index of the block.
    pub block: u32,
    /// The detail level.
    pub level: AlternateLevel,
    /// The tokens of the block rendered at this level.
    pub tokens: u32,
}

/// A detail level between the full content and the placeholder, in descending order of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AlternateLevel {
    /// The detailed alternate text (RFC 0004 §6).
    Detailed,
    /// The summary of the block.
    Summary,
    /// The tags (RFC 0004 §6).
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

    /// Returns whether there are zero blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Returns the costs of the blocks in this encoding, counted with this revision of the
    /// renderer.
    #[must_use]
    pub fn costs_in(&self, encoding: &str, revision: u32) -> Option<&EncodingCosts> {
        self.costs.iter().find(|costs| costs.encoding == encoding && costs.revision == revision)
    }
}

impl EncodingCosts {
    /// Returns the costs in the mode with this name.
    #[must_use]
    pub fn mode(&self, name: &str) -> Option<&ModeCosts> {
        self.modes.iter().find(|costs| costs.mode == name)
    }
}

/// Builds a [`BlockIndex`] block by block, without holding the blocks in memory.
#[derive(Clone, Debug, Default)]
pub struct BlockIndexBuilder {
    columns: BlockIndex,
    /// The priorities by target. If a target has several, the last one wins.
    priorities: Vec<(u64, Priority)>,
    ranks: Vec<(u64, f64)>,
    pinned: Vec<u64>,
    passages: Vec<u64>,
    categories: Vec<(u64, u32)>,
    /// Call ids from tags, for blocks without a field for them.
    tagged: Vec<(u64, u32)>,
    annotations: Vec<(u64, u32)>,
    category_numbers: HashMap<String, u32>,
    ids: HashMap<String, u32>,
    /// Chat turns with a call id in their own field.
    turns: Vec<ToolCallEntry>,
}

impl BlockIndexBuilder {
    /// Adds the next block of the stream. Blocks after the first 2³² are ignored.
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
        if !meta.passages.is_empty() {
            self.passages.push(target);
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

    /// Adds the next block when only its type is known. Blocks after the first 2³² are ignored.
    pub fn push_unknown(&mut self, block_type: BlockType) {
        if u32::try_from(self.columns.types.len()).is_err() {
            return;
        }
        self.columns.types.push(block_type.code());
        self.columns.labels.push("");
    }

    /// Replaces the summary of the first block.
    pub fn set_first_summary(&mut self, summary: Option<&str>) {
        let summaries = &mut self.columns.summaries;
        let old = summaries.iter().take_while(|(block, _)| *block == 0).count();
        let len = summary.map(|summary| (0, u32::try_from(summary.len()).unwrap_or(u32::MAX)));
        summaries.splice(..old, len);
    }

    /// Returns the index of the blocks added so far. Annotations with a target that does not exist
    /// are left out.
    #[must_use]
    pub fn finish(&self) -> BlockIndex {
        let mut index = self.columns.clone();
        let blocks = index.types.len();
        index.priorities = last_of_each(&self.priorities, blocks);
        index.ranks = last_of_each(&self.ranks, blocks);
        index.categories = last_of_each(&self.categories, blocks);
        index.pinned = targets(&self.pinned, blocks);
        index.passages = targets(&self.passages, blocks);
        index.annotations = (self.annotations.iter())
            .filter_map(|&(target, by)| Some((within(target, blocks)?, by)))
            .collect();
        index.annotations.sort_unstable();
        let is_turn =
            |block: u32| index.types.get(block as usize) == Some(&BlockType::Conversation.code());
        // A chat turn has a field for its call id. The tag applies only to other blocks.
        let tagged = last_of_each(&self.tagged, blocks).into_iter();
        let tagged = tagged.filter(|(block, _)| !is_turn(*block));
        index.calls =
            tagged.map(|(block, id)| ToolCallEntry { block, id, is_result: true }).collect();
        index.calls.extend(&self.turns);
        index.calls.sort_unstable_by_key(|call| call.block);
        index
    }
}

/// Returns the number of a name, and assigns the next number to a new name.
fn number(numbers: &mut HashMap<String, u32>, name: &str) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(name.to_owned(), number);
    number
}

/// Returns the target as a block index, if it is below `blocks`.
fn within(target: u64, blocks: usize) -> Option<u32> {
    usize::try_from(target).ok().filter(|target| *target < blocks)?;
    u32::try_from(target).ok()
}

/// Sorts the targets, without repetition.
fn targets(of: &[u64], blocks: usize) -> Vec<u32> {
    let mut targets: Vec<_> = of.iter().filter_map(|&target| within(target, blocks)).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// Sorts the values by target. If a target has several values, only the last one is retained.
fn last_of_each<T: Copy>(values: &[(u64, T)], blocks: usize) -> Vec<(u32, T)> {
    let existing = values.iter().filter_map(|&(target, of)| Some((within(target, blocks)?, of)));
    let mut last: Vec<_> = existing.collect();
    // The sort is stable, so the values of one target remain in stream order.
    last.sort_by_key(|(target, _)| *target);
    last.reverse();
    last.dedup_by_key(|(target, _)| *target);
    last.reverse();
    last
}

/// The labels of blocks. A label equal to that of a recent block is stored as a reference to that
/// block.
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
    /// The block, start and length of the most recent labels. They do not take part in comparisons.
    recent: Vec<(u32, u32, u32)>,
}

impl PartialEq for LabelColumn {
    fn eq(&self, other: &Self) -> bool {
        self.codes == other.codes && self.text == other.text
    }
}

/// The number of recent labels to compare with, and the length in bytes of the longest one.
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

    /// Iterates over the labels in block order.
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

    /// Returns a code for each block. The code is twice the length in bytes of the label in
    /// [`Self::text`], or 1 plus twice the distance to the earlier block with the same label.
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// Returns the concatenation of all labels that are not references.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Builds the column from its codes and its text. Returns `None` if they are inconsistent.
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
