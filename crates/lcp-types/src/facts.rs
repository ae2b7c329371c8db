//! What a plan needs to know of blocks without reading them: the columns of an
//! index (RFC 0003 §3, §4).

use std::collections::HashMap;

use crate::{Block, BlockContent, BlockMeta, BlockType, Priority, Role};

/// What is known of the blocks of a pack, as columns.
///
/// Blocks are named by their index in the stream, annotations counted. Lists
/// of pairs ascend by it. All of it follows from the blocks ([`Facts::of`]), but
/// for the costs, which whoever counts adds.
///
/// ```
/// use lcp_types::{Annotation, Block, Facts, Priority, Role};
///
/// let blocks = [
///     Block::conversation(Role::User, "hi"),
///     Block::new(Annotation::priority(0, Priority::High)),
/// ];
/// let facts = Facts::of(&blocks);
/// assert_eq!(facts.priorities, [(0, Priority::High)]);
/// assert_eq!(facts.newest_user, Some(0));
/// assert_eq!(facts.labels.iter().collect::<Vec<_>>(), ["user", "0"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The code of each block's type.
    pub types: Vec<u8>,
    /// Blocks that are metadata though their type does not say so: LCP's own
    /// extensions.
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
    /// Blocks that are of tool calls.
    pub calls: Vec<CallOf>,
    /// The last turn of role user.
    pub newest_user: Option<u32>,
    /// Bytes of the summaries that blocks begin with.
    pub summaries: Vec<(u32, u32)>,
    /// Blocks and what speaks of them: annotations and levels, by both.
    pub said: Vec<(u32, u32)>,
    /// What reports call each block.
    pub labels: Labels,
    /// What blocks cost, by encoding.
    pub costs: Vec<CostsOf>,
}

/// A block of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallOf {
    /// The block.
    pub block: u32,
    /// Stands for the id: blocks of the same id have the same number.
    pub id: u32,
    /// A tool result or a turn of role tool, not a call.
    pub is_result: bool,
}

/// What the blocks of a pack cost in one encoding, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CostsOf {
    /// The name of the encoding, such as `o200k_base`.
    pub encoding: String,
    /// The revision of the renderer whose parts were counted: costs of another
    /// one are of no use.
    pub revision: u32,
    /// Tokens of each block's content with its final newline; 0 of metadata.
    pub contents: Vec<u32>,
    /// Whether each content begins with what joins a newline before it (RFC
    /// 0002 §2), a bit for each block, the lowest first: then the cost of a part
    /// around it is the sum of head, content and tail.
    pub joins: Vec<u8>,
    /// What the parts of blocks cost, by mode.
    pub modes: Vec<ModeCosts>,
}

/// What parts of blocks cost in one mode, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeCosts {
    /// The name of the mode, such as `xml`.
    pub mode: String,
    /// Each block in full; 0 of metadata.
    pub full: Vec<u32>,
    /// The placeholder of each.
    pub line: Vec<u32>,
    /// Further levels of those that have them, ascending by block and level.
    pub levels: Vec<LevelCost>,
}

/// What a level of a block costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LevelCost {
    /// The block.
    pub block: u32,
    /// Which level.
    pub level: CostLevel,
    /// Tokens of the part that shows it.
    pub tokens: u32,
}

/// The levels between a block's content and its placeholder, the fullest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostLevel {
    /// RFC 0004 §6.
    Detailed,
    /// The block's summary.
    Summary,
    /// RFC 0004 §6.
    Tags,
}

impl CostLevel {
    /// Every level, by code.
    pub const ALL: [Self; 3] = [Self::Detailed, Self::Summary, Self::Tags];
}

impl Facts {
    /// What can be known of these blocks without counting.
    #[must_use]
    pub fn of(blocks: &[Block<'_>]) -> Self {
        let mut collector = FactsCollector::default();
        for block in blocks {
            collector.push(block);
        }
        collector.finish()
    }

    /// How many blocks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// What the blocks cost in this encoding, by this revision.
    #[must_use]
    pub fn costs_in(&self, encoding: &str, revision: u32) -> Option<&CostsOf> {
        self.costs.iter().find(|costs| costs.encoding == encoding && costs.revision == revision)
    }
}

impl CostsOf {
    /// What parts cost in this mode.
    #[must_use]
    pub fn mode(&self, name: &str) -> Option<&ModeCosts> {
        self.modes.iter().find(|costs| costs.mode == name)
    }
}

/// Collects [`Facts`] block by block, and keeps none of them.
#[derive(Clone, Debug, Default)]
pub struct FactsCollector {
    facts: Facts,
    /// By target; the last one counts.
    priorities: Vec<(u64, Priority)>,
    ranks: Vec<(u64, f64)>,
    pinned: Vec<u64>,
    categories: Vec<(u64, u32)>,
    /// Ids that tags give, which blocks without a field for one take.
    tagged: Vec<(u64, u32)>,
    said: Vec<(u64, u32)>,
    category_numbers: HashMap<String, u32>,
    ids: HashMap<String, u32>,
    /// Turns with an id of their own.
    turns: Vec<CallOf>,
}

impl FactsCollector {
    /// Takes the next block of the stream. Beyond 2³² blocks nothing is taken.
    pub fn push(&mut self, block: &Block<'_>) {
        let Ok(index) = u32::try_from(self.facts.types.len()) else { return };
        self.facts.types.push(block.block_type().code());
        self.facts.labels.push(&block.label());
        if let Some(summary) = &block.summary {
            self.facts.summaries.push((index, u32::try_from(summary.len()).unwrap_or(u32::MAX)));
        }
        if let BlockContent::Conversation(turn) = &block.content {
            if turn.role == Role::User {
                self.facts.newest_user = Some(index);
            }
            if let Some(id) = turn.tool_call_id.as_deref().filter(|id| !id.is_empty()) {
                let (id, is_result) = (number(&mut self.ids, id), turn.role == Role::Tool);
                self.turns.push(CallOf { block: index, id, is_result });
            }
        }
        if !block.content.is_metadata() {
            return;
        }
        if block.block_type() != BlockType::Annotation {
            self.facts.metadata.push(index);
        }
        let Some((target, meta)) = BlockMeta::from_annotation(block).and_then(Result::ok) else {
            return;
        };
        self.said.push((target, index));
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
            self.categories.push((target, number(&mut self.category_numbers, category)));
        }
        if let Some(id) = &meta.tool_call_id {
            self.tagged.push((target, number(&mut self.ids, id)));
        }
    }

    /// Takes the next block, of which only the type is known: its body is stored
    /// elsewhere. Beyond 2³² blocks nothing is taken.
    pub fn push_unknown(&mut self, block_type: BlockType) {
        if u32::try_from(self.facts.types.len()).is_err() {
            return;
        }
        self.facts.types.push(block_type.code());
        self.facts.labels.push("");
    }

    /// How many blocks were taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.facts.types.len()
    }

    /// Whether none were taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.facts.types.is_empty()
    }

    /// What is known of the blocks that were taken. What is said of blocks that
    /// are not among them is left out.
    #[must_use]
    pub fn finish(&self) -> Facts {
        let mut facts = self.facts.clone();
        let blocks = facts.types.len();
        facts.priorities = last_of_each(&self.priorities, blocks);
        facts.ranks = last_of_each(&self.ranks, blocks);
        facts.categories = last_of_each(&self.categories, blocks);
        let pinned: Vec<_> = self.pinned.iter().map(|&target| (target, ())).collect();
        facts.pinned = last_of_each(&pinned, blocks).into_iter().map(|(block, ())| block).collect();
        facts.category_names = names(&self.category_numbers);
        facts.said = (self.said.iter())
            .filter_map(|&(target, by)| Some((within(target, blocks)?, by)))
            .collect();
        facts.said.sort_unstable();
        let is_turn =
            |block: u32| facts.types.get(block as usize) == Some(&BlockType::Conversation.code());
        // A chat turn has a field for its id; the tag is for others.
        let tagged = last_of_each(&self.tagged, blocks).into_iter();
        let tagged = tagged.filter(|(block, _)| !is_turn(*block));
        facts.calls = tagged.map(|(block, id)| CallOf { block, id, is_result: true }).collect();
        facts.calls.extend(&self.turns);
        facts.calls.sort_unstable_by_key(|call| call.block);
        facts
    }
}

/// The number of a name, a new one where it is not known yet.
fn number(numbers: &mut HashMap<String, u32>, name: &str) -> u32 {
    if let Some(number) = numbers.get(name) {
        return *number;
    }
    let number = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(name.to_owned(), number);
    number
}

/// The names by their numbers.
fn names(numbers: &HashMap<String, u32>) -> Vec<String> {
    let mut names: Vec<_> = numbers.iter().map(|(name, number)| (*number, name)).collect();
    names.sort_unstable();
    names.into_iter().map(|(_, name)| name.clone()).collect()
}

/// The index of a target that there is.
fn within(target: u64, blocks: usize) -> Option<u32> {
    usize::try_from(target).ok().filter(|target| *target < blocks)?;
    u32::try_from(target).ok()
}

/// By target, ascending; of several for one target the last.
fn last_of_each<T: Copy>(said: &[(u64, T)], blocks: usize) -> Vec<(u32, T)> {
    let existing = said.iter().filter_map(|&(target, of)| Some((within(target, blocks)?, of)));
    let mut last: Vec<_> = existing.collect();
    // Stable, so those of one target stay in the order of the stream.
    last.sort_by_key(|(target, _)| *target);
    last.reverse();
    last.dedup_by_key(|(target, _)| *target);
    last.reverse();
    last
}

/// What reports call blocks, one after the other; a label that stood shortly
/// before is not kept twice.
///
/// ```
/// let mut labels = lcp_types::Labels::default();
/// for label in ["user", "assistant", "user"] {
///     labels.push(label);
/// }
/// assert_eq!(labels.iter().last(), Some("user"));
/// assert_eq!(labels.text(), "userassistant");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// For each block twice the bytes of its own label, or 1 and twice how far
    /// before it the label stands.
    heads: Vec<u32>,
    text: String,
    /// Where labels of the last few blocks are: not part of the value.
    recent: Vec<(u32, u32, u32)>,
}

impl PartialEq for Labels {
    fn eq(&self, other: &Self) -> bool {
        self.heads == other.heads && self.text == other.text
    }
}

/// Labels that are looked through for one that comes again, and their bytes.
const RECENT_MAX: usize = 8;
const RECENT_BYTES_MAX: usize = 32;

impl Labels {
    /// Adds the label of the next block.
    pub fn push(&mut self, label: &str) {
        let (Ok(index), Ok(start), Ok(len)) = (
            u32::try_from(self.heads.len()),
            u32::try_from(self.text.len()),
            u32::try_from(label.len()),
        ) else {
            return self.heads.push(0);
        };
        let of = |&(_, start, len): &(u32, u32, u32)| {
            self.text.as_bytes().get(start as usize..(start + len) as usize)
        };
        if let Some(at) = self.recent.iter().position(|known| of(known) == Some(label.as_bytes())) {
            let block = std::mem::replace(&mut self.recent[at].0, index);
            return self.heads.push((index - block) << 1 | 1);
        }
        self.text.push_str(label);
        self.heads.push(len << 1);
        if label.len() <= RECENT_BYTES_MAX && !label.is_empty() {
            if self.recent.len() == RECENT_MAX {
                self.recent.remove(0);
            }
            self.recent.push((index, start, len));
        }
    }

    /// The labels, in the order of their blocks.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut places: Vec<(usize, usize)> = Vec::with_capacity(self.heads.len());
        let mut end = 0;
        self.heads.iter().enumerate().map(move |(index, head)| {
            let value = (head >> 1) as usize;
            let place = if head & 1 == 0 {
                end += value;
                (end - value, end)
            } else {
                places[index - value]
            };
            places.push(place);
            &self.text[place.0..place.1]
        })
    }

    /// For each block: an even number is twice the bytes of its label in
    /// [`Self::text`], which follows that of the block before; an odd one is 1
    /// and twice the number of blocks that it stands behind one with the same
    /// label.
    #[must_use]
    pub fn heads(&self) -> &[u32] {
        &self.heads
    }

    /// The labels that are not as one before, one after the other.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The labels of these two; `None` if they do not make up any.
    #[must_use]
    pub fn from_parts(heads: Vec<u32>, text: String) -> Option<Self> {
        let mut end = 0usize;
        for (index, head) in heads.iter().enumerate() {
            let value = (head >> 1) as usize;
            if head & 1 == 0 {
                end = end.checked_add(value).filter(|end| text.is_char_boundary(*end))?;
            } else if value == 0 || value > index {
                return None;
            }
        }
        (end == text.len()).then_some(Self { heads, text, recent: Vec::new() })
    }
}
