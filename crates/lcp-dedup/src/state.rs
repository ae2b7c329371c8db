//! The working state of deduplication: ranks of blocks, and replacements as a forest of references.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use lcp_types::{Block, BlockContent, BlockMeta, BlockType, DuplicateKind, Priority, Role};

use crate::near::Changes;
use crate::options::{Options, Survivor};
use crate::stub::{StubTarget, is_stub};

/// The outcome for a block that is covered or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Another block covers it.
    Covered { by: usize, relation: DuplicateKind, stub: StubKind },
    /// It is extended with lines of other chunks.
    Grown(Box<Lines>),
    /// It is reduced to the lines that `by` lacks.
    Cut { by: usize, lines: Box<Lines> },
}

impl Outcome {
    /// Returns the block that covers this one or its removed lines.
    pub(crate) const fn by(&self) -> Option<usize> {
        match self {
            Self::Covered { by, .. } | Self::Cut { by, .. } => Some(*by),
            Self::Grown(_) => None,
        }
    }
}

/// The stub of a covered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StubKind {
    None,
    /// A line that names the covering block.
    Reference,
    /// The changes against the covering block.
    Changes(Box<Changes>),
}

/// A range of lines with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) text: Vec<u8>,
    /// The source chunks, in line order.
    pub(crate) members: Vec<usize>,
}

/// The rank of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockRank {
    pub(crate) priority: Priority,
    rank: f64,
    /// `true` if the block must not be covered or changed. It may cover other blocks.
    pub(crate) fixed: bool,
}

/// The rank of a block without a rank. It is lower than every rank, because ranks are finite.
const UNRANKED: f64 = f64::NEG_INFINITY;

/// The blocks, their ranks and their outcomes.
#[derive(Debug)]
pub(crate) struct DedupState<'b, 'a> {
    pub(crate) blocks: &'b [Block<'a>],
    pub(crate) options: &'b Options,
    /// The metadata of annotated blocks.
    pub(crate) metas: &'b BTreeMap<usize, BlockMeta<'b>>,
    pub(crate) ranks: Vec<BlockRank>,
    /// The compared blocks in order of preference, the best first.
    pub(crate) order: Vec<usize>,
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// Pairs of a chunk and another one that has some of its lines.
    pub(crate) shared: Vec<(usize, usize)>,
}

impl<'b, 'a> DedupState<'b, 'a> {
    pub(crate) fn new(
        blocks: &'b [Block<'a>],
        metas: &'b BTreeMap<usize, BlockMeta<'b>>,
        options: &'b Options,
    ) -> Self {
        let is_user = |block: &Block<'_>| role(block) == Some(Role::User);
        let newest = blocks.iter().rposition(is_user);
        // With `first`, every user turn is fixed, because a later block decides which one is the
        // newest.
        let first = options.survivor == Survivor::First;
        let rank = |(index, block): (usize, &Block<'_>)| BlockRank {
            priority: Priority::default(),
            rank: UNRANKED,
            fixed: newest == Some(index)
                || (first && is_user(block))
                || role(block) == Some(Role::System),
        };
        let mut ranks: Vec<_> = blocks.iter().enumerate().map(rank).collect();
        for (&index, meta) in metas {
            let rank = &mut ranks[index];
            rank.priority = meta.priority;
            rank.rank = meta.rank.unwrap_or(UNRANKED);
            // If a file or diff is a tool result, it cannot become a reference, and without it the
            // tool call would have no result.
            let is_result = meta.tool_call_id.is_some() && !is_event(&blocks[index]);
            rank.fixed |= meta.pinned || is_result;
        }
        // Blocks of a previous text must not change.
        for index in options.previous_blocks.keys() {
            if let Some(rank) = ranks.get_mut(*index) {
                rank.fixed = true;
            }
        }
        let takes_part = |&index: &usize| {
            takes_part(&blocks[index], options)
                && options.previous_blocks.get(&index) != Some(&false)
        };
        let mut order: Vec<_> = (0..blocks.len()).filter(takes_part).collect();
        if options.survivor == Survivor::Best {
            // Fixed blocks come first, because they can cover but not be covered.
            order.sort_by(|&a, &b| ranks[a].cmp(&ranks[b]));
        }
        Self {
            blocks,
            options,
            metas,
            ranks,
            order,
            outcomes: vec![None; blocks.len()],
            shared: Vec::new(),
        }
    }

    /// Returns the compared blocks in stream order.
    pub(crate) fn stream_order(&self) -> impl Iterator<Item = usize> + use<> {
        let mut is_compared = vec![false; self.blocks.len()];
        for &index in &self.order {
            is_compared[index] = true;
        }
        is_compared.into_iter().enumerate().filter(|(_, is_it)| *is_it).map(|(index, _)| index)
    }

    /// Returns the path of a block of structured data.
    pub(crate) fn data_path(&self, index: usize) -> Option<&'b str> {
        self.metas.get(&index)?.path.as_deref()
    }

    /// Marks a block as covered, unless it is an event and a reference would not be much shorter.
    pub(crate) fn cover(&mut self, index: usize, by: usize, relation: DuplicateKind) {
        let stub = if !is_event(&self.blocks[index]) {
            StubKind::None
        } else if self.is_worth_a_line(index, by, relation) {
            StubKind::Reference
        } else {
            return;
        };
        self.outcomes[index] = Some(Outcome::Covered { by, relation, stub });
        // The covering block inherits a higher priority, and later steps use it.
        let priority = self.ranks[index].priority;
        let rank = &mut self.ranks[by];
        rank.priority = rank.priority.min(priority);
    }

    fn is_worth_a_line(&self, index: usize, by: usize, relation: DuplicateKind) -> bool {
        let line = self.target(by).line(by < index, relation);
        let text = self.blocks[index].content.text();
        text.is_some_and(|text| 2 * line.len() < text.len())
    }

    /// Returns the target of references to block `by`.
    pub(crate) fn target(&self, by: usize) -> StubTarget<'_> {
        StubTarget::new(&self.blocks[by], self.metas.get(&by))
    }

    /// Returns whether covering this block would make block `by` Critical. Block `by` may be
    /// larger, so the text might no longer fit a budget.
    pub(crate) fn makes_critical(&self, index: usize, by: usize) -> bool {
        let is_critical = |index: usize| self.ranks[index].priority == Priority::Critical;
        is_critical(index) && !is_critical(by)
    }

    /// Returns the last block in the chain of covering blocks, or the block itself, and the
    /// relation to that root.
    pub(crate) fn root(&self, mut index: usize) -> (usize, Option<DuplicateKind>) {
        let mut how = None;
        // A block that is replaced by its changes remains in the text, so the chain ends there.
        while let Some(Outcome::Covered {
            by,
            relation,
            stub: StubKind::None | StubKind::Reference,
        }) = &self.outcomes[index]
        {
            (index, how) = (*by, Some(combine(how, *relation)));
        }
        (index, how)
    }

    /// Returns this block, the block that covers it, and so on up to the root.
    pub(crate) fn chain(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |index| match &self.outcomes[*index] {
            Some(Outcome::Covered { by, stub: StubKind::None | StubKind::Reference, .. }) => {
                Some(*by)
            }
            _ => None,
        })
    }

    /// Returns the current text of a block.
    pub(crate) fn text(&self, index: usize) -> Option<&[u8]> {
        match &self.outcomes[index] {
            Some(Outcome::Grown(lines) | Outcome::Cut { lines, .. }) => Some(&lines.text),
            Some(Outcome::Covered { .. }) => None,
            None => self.blocks[index].content.text().map(lcp_types::CowBytes::as_slice),
        }
    }
}

impl BlockRank {
    /// Compares by preference. The better rank is less.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        (other.fixed.cmp(&self.fixed))
            .then_with(|| other.rank.total_cmp(&self.rank))
            .then_with(|| self.priority.cmp(&other.priority))
    }
}

/// Combines the relation of a block to the next one in a chain with that one's relation to its own
/// covering block.
pub(crate) const fn combine(first: Option<DuplicateKind>, next: DuplicateKind) -> DuplicateKind {
    match (first, next) {
        // The lines of a block are still contained in a copy of the covering block.
        (Some(first), DuplicateKind::Equal) => first,
        _ => next,
    }
}

fn takes_part(block: &Block<'_>, options: &Options) -> bool {
    let asked_for = |ty: BlockType| options.types.as_ref().is_none_or(|types| types.contains(&ty));
    let is_blank =
        || block.content.text().is_some_and(|text| text.as_slice().trim_ascii().is_empty());
    let is_stub = || block.content.text().is_some_and(|text| is_stub(text.as_slice()));
    !block.content.is_metadata() && asked_for(block.block_type()) && !is_blank() && !is_stub()
}

fn role(block: &Block<'_>) -> Option<Role> {
    match &block.content {
        BlockContent::Conversation(turn) => Some(turn.role),
        _ => None,
    }
}

/// Returns whether a block is an event, which must never disappear from the text (RFC 0006 §3).
pub(crate) fn is_event(block: &Block<'_>) -> bool {
    matches!(block.content, BlockContent::Conversation(_) | BlockContent::ToolResult(_))
}
