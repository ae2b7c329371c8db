//! What blocks are to each other: pinned, of one tool call, the newest question
//! (RFC 0005 §5).

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use lcp_types::{Block, BlockContent, BlockMeta, Priority, Role};

/// The blocks of one group at most. What is kept or dropped together is decided
/// together, and that takes time for each block.
const GROUP_MAX: usize = 64;

/// What the budget goes by, besides what blocks cost.
#[derive(Debug, Default)]
pub(super) struct Relations {
    /// The priority that each block competes with, by its place among those
    /// that can be shown.
    pub(super) priorities: Vec<Priority>,
    /// Whether a block is never lowered.
    pub(super) pinned: Vec<bool>,
    /// The group of each block: an index into `groups`.
    pub(super) group: Vec<Option<usize>>,
    /// Blocks that are kept or dropped together.
    pub(super) groups: Vec<Vec<usize>>,
    /// The newest user turn, where it has no Critical priority.
    pub(super) newest: Option<usize>,
}

impl Relations {
    /// The relations of the blocks that can be shown, given by their indices.
    pub(super) fn new(blocks: &[Block<'_>], metas: &[BlockMeta<'_>], shown: &[usize]) -> Self {
        let newest = shown.iter().rposition(|&i| is_user_turn(&blocks[i]));
        let calls = shown.iter().enumerate().filter_map(|(at, &i)| {
            let Call { id, is_result } = call_of(&blocks[i], &metas[i])?;
            Some((at, id, is_result))
        });
        let own = shown.iter().map(|&i| (metas[i].priority, metas[i].pinned)).unzip();
        Self::of(own, groups(calls), newest)
    }

    /// The relations of blocks whose own priorities and pins these are, of their
    /// groups, and of the newest user turn among them.
    ///
    /// All blocks of a group take the highest priority among them, and a pinned
    /// one pins all. The newest user turn counts as High where it is Normal, and
    /// so does its group. What is pinned counts as Critical.
    pub(super) fn of(
        (priorities, pinned): (Vec<Priority>, Vec<bool>),
        groups: Vec<Vec<usize>>,
        newest: Option<usize>,
    ) -> Self {
        let own = newest.map(|newest| priorities[newest]);
        let group = vec![None; priorities.len()];
        let mut relations = Self { priorities, pinned, group, groups, newest: None };
        for (group, members) in relations.groups.iter().enumerate() {
            let highest = members.iter().map(|&at| relations.priorities[at]).min();
            let pinned = members.iter().any(|&at| relations.pinned[at]);
            for &at in members {
                relations.group[at] = Some(group);
                relations.pinned[at] = pinned;
                relations.priorities[at] = highest.unwrap_or_default();
            }
        }
        if let Some(newest) = newest
            && own == Some(Priority::Normal)
            && relations.priorities[newest] == Priority::Normal
        {
            let members = relations.group[newest].map(|group| relations.groups[group].as_slice());
            for &at in members.unwrap_or(&[newest]) {
                relations.priorities[at] = Priority::High;
            }
        }
        for (priority, pinned) in relations.priorities.iter_mut().zip(&relations.pinned) {
            if *pinned {
                *priority = Priority::Critical;
            }
        }
        relations.newest =
            newest.filter(|&newest| relations.priorities[newest] != Priority::Critical);
        relations
    }
}

/// Whether it is a turn of role user.
pub(super) fn is_user_turn(block: &Block<'_>) -> bool {
    matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User)
}

/// The tool call that a block is of.
pub(super) struct Call<'b> {
    pub(super) id: &'b str,
    /// A tool result or a turn of role tool, not a call.
    pub(super) is_result: bool,
}

/// The tool call of a block, if it is of one: an empty id names none.
pub(super) fn call_of<'b>(block: &'b Block<'_>, meta: &'b BlockMeta<'_>) -> Option<Call<'b>> {
    let (id, is_result) = match &block.content {
        BlockContent::Conversation(turn) => {
            (turn.tool_call_id.as_deref()?, turn.role == Role::Tool)
        }
        // The format has no field for it. A result that is a file or a diff may stand as
        // such (RFC 0010 §5.1).
        _ => (meta.tool_call_id.as_deref()?, true),
    };
    (!id.is_empty()).then_some(Call { id, is_result })
}

/// The group that blocks of an id join.
#[derive(Clone, Copy)]
struct Current {
    group: usize,
    /// Whether a result of the id came since the group began.
    answered: bool,
}

/// Blocks of the same tool call, where there are several: of each its place, what
/// stands for the id, and whether it is a result.
///
/// An id may be used again: a call that comes after a result of its id begins a
/// new group. Blocks after the first [`GROUP_MAX`] of a group stand alone, until
/// a call begins the next.
pub(super) fn groups<K: Hash + Eq>(
    calls: impl Iterator<Item = (usize, K, bool)>,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<K, Current, RandomState> = HashMap::default();
    for (at, id, is_result) in calls {
        let fresh = Current { group: groups.len(), answered: false };
        let current = known.entry(id).or_insert(fresh);
        if current.answered && !is_result {
            *current = fresh;
        }
        current.answered |= is_result;
        if current.group == groups.len() {
            groups.push(Vec::new());
        }
        if groups[current.group].len() < GROUP_MAX {
            groups[current.group].push(at);
        }
    }
    groups.retain(|members| members.len() > 1);
    groups
}
