//! What is known of the blocks while they are compared, and what was decided.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use lcp_types::{Block, BlockContent, BlockMeta, BlockType, DuplicateKind, Priority, Role};

use crate::options::{Keep, Options};
use crate::reference::{Target, is_stub};

/// What becomes of a block that does not stay as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Another block covers it.
    Covered { by: usize, relation: DuplicateKind, place: Place },
    /// It has the lines of other chunks, too.
    Grown(Box<Lines>),
    /// It has only the lines that `by` lacks.
    Cut { by: usize, lines: Box<Lines> },
}

impl Fate {
    /// The block that has what this one lacks.
    pub(crate) const fn by(&self) -> Option<usize> {
        match self {
            Self::Covered { by, .. } | Self::Cut { by, .. } => Some(*by),
            Self::Grown(_) => None,
        }
    }
}

/// What stands in the place of a covered block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Nothing,
    /// A line that names the covering block.
    Reference,
    /// These changes to the covering block.
    Hunks(Box<[u8]>),
}

/// A range of lines, and their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) text: Vec<u8>,
    /// The chunks that they come from, in the order of lines.
    pub(crate) members: Vec<usize>,
}

/// How a block ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) priority: Priority,
    rank: f64,
    /// It may cover others, and is never covered or changed.
    pub(crate) fixed: bool,
}

/// Below every rank: ranks are finite.
const UNRANKED: f64 = f64::NEG_INFINITY;

/// The blocks that are compared.
#[derive(Debug)]
pub(crate) struct Work<'b, 'a> {
    pub(crate) blocks: &'b [Block<'a>],
    pub(crate) options: &'b Options,
    /// What is said of the blocks that annotations speak of.
    pub(crate) metas: &'b BTreeMap<usize, BlockMeta<'b>>,
    pub(crate) standings: Vec<Standing>,
    /// The blocks that take part: as they are kept, the best first.
    pub(crate) order: Vec<usize>,
    pub(crate) fates: Vec<Option<Fate>>,
    /// Chunks, and further ones that have some of their lines.
    pub(crate) shared: Vec<(usize, usize)>,
}

impl<'b, 'a> Work<'b, 'a> {
    pub(crate) fn new(
        blocks: &'b [Block<'a>],
        metas: &'b BTreeMap<usize, BlockMeta<'b>>,
        options: &'b Options,
    ) -> Self {
        let is_user = |block: &Block<'_>| role(block) == Some(Role::User);
        let newest = blocks.iter().rposition(is_user);
        // Which turn is the newest depends on the blocks behind it.
        let first = options.keep == Keep::First;
        let standing = |(index, block): (usize, &Block<'_>)| Standing {
            priority: Priority::default(),
            rank: UNRANKED,
            fixed: newest == Some(index)
                || (first && is_user(block))
                || role(block) == Some(Role::System),
        };
        let mut standings: Vec<_> = blocks.iter().enumerate().map(standing).collect();
        for (&index, meta) in metas {
            let standing = &mut standings[index];
            standing.priority = meta.priority;
            standing.rank = meta.rank.unwrap_or(UNRANKED);
            // A result that stands as a file or a diff has no text of its own to refer
            // with: without it, its call would have no answer.
            let is_result = meta.tool_call_id.is_some() && !is_event(&blocks[index]);
            standing.fixed |= meta.pinned || is_result;
        }
        // What stands in a text is not changed any more.
        for index in options.in_text.keys() {
            if let Some(standing) = standings.get_mut(*index) {
                standing.fixed = true;
            }
        }
        let takes_part = |&index: &usize| {
            takes_part(&blocks[index], options) && options.in_text.get(&index) != Some(&false)
        };
        let mut order: Vec<_> = (0..blocks.len()).filter(takes_part).collect();
        if options.keep == Keep::Best {
            // What is never covered comes first: it covers, or it is a copy.
            order.sort_by(|&a, &b| standings[a].cmp(&standings[b]));
        }
        Self {
            blocks,
            options,
            metas,
            standings,
            order,
            fates: vec![None; blocks.len()],
            shared: Vec::new(),
        }
    }

    /// Covers a block, unless it is one that says that something happened and
    /// no line that refers to the other is worth its place.
    pub(crate) fn cover(&mut self, index: usize, by: usize, relation: DuplicateKind) {
        let place = if !is_event(&self.blocks[index]) {
            Place::Nothing
        } else if self.is_worth_a_line(index, by, relation) {
            Place::Reference
        } else {
            return;
        };
        self.fates[index] = Some(Fate::Covered { by, relation, place });
        // Later steps treat it as what it is by now.
        let priority = self.standings[index].priority;
        let standing = &mut self.standings[by];
        standing.priority = standing.priority.min(priority);
    }

    fn is_worth_a_line(&self, index: usize, by: usize, relation: DuplicateKind) -> bool {
        let line = self.target(by).line(by < index, relation);
        let text = self.blocks[index].content.text();
        text.is_some_and(|text| 2 * line.len() < text.len())
    }

    /// What a line in the place of a block refers to.
    pub(crate) fn target(&self, by: usize) -> Target<'_> {
        Target::new(&self.blocks[by], self.metas.get(&by))
    }

    /// Whether covering would make a block Critical that is not, and perhaps
    /// larger: then no budget might hold what it held before.
    pub(crate) fn makes_critical(&self, index: usize, by: usize) -> bool {
        let is_critical = |index: usize| self.standings[index].priority == Priority::Critical;
        is_critical(index) && !is_critical(by)
    }

    /// The block that covers this one in the end, itself where none does.
    /// And how the last of those that it goes by stands to it.
    pub(crate) fn root(&self, mut index: usize) -> (usize, Option<DuplicateKind>) {
        let mut how = None;
        // A diff is still there.
        while let Some(Fate::Covered { by, relation, place: Place::Nothing | Place::Reference }) =
            &self.fates[index]
        {
            (index, how) = (*by, Some(*relation));
        }
        (index, how)
    }

    /// This block, what covers it, and so on to the one that stands.
    pub(crate) fn chain(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |index| match &self.fates[*index] {
            Some(Fate::Covered { by, place: Place::Nothing | Place::Reference, .. }) => Some(*by),
            _ => None,
        })
    }

    /// The text of a block as it is by now.
    pub(crate) fn text(&self, index: usize) -> Option<&[u8]> {
        match &self.fates[index] {
            Some(Fate::Grown(lines) | Fate::Cut { lines, .. }) => Some(&lines.text),
            Some(Fate::Covered { .. }) => None,
            None => self.blocks[index].content.text().map(lcp_types::Bytes::as_slice),
        }
    }
}

impl Standing {
    /// The better one first. Positions decide the rest, by a stable sort.
    pub(crate) fn cmp(&self, other: &Self) -> Ordering {
        (other.fixed.cmp(&self.fixed))
            .then_with(|| other.rank.total_cmp(&self.rank))
            .then_with(|| self.priority.cmp(&other.priority))
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

/// Whether a block says that something happened: without it the story is
/// another one (RFC 0006 §3).
pub(crate) fn is_event(block: &Block<'_>) -> bool {
    matches!(block.content, BlockContent::Conversation(_) | BlockContent::ToolResult(_))
}
