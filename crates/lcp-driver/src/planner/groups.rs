//! Related blocks: pins, tool calls and the newest user turn (RFC 0005 §5).

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use lcp_types::{Block, BlockContent, BlockMeta, Priority, Role};

/// The most blocks of a group: they are decided together, which takes time for each.
const GROUP_MAX: usize = 64;

/// The priorities that candidates compete with, and the groups they form.
#[derive(Debug, Default)]
pub(crate) struct BlockGroups {
    /// The priority that each candidate competes with.
    pub(crate) priorities: Vec<Priority>,
    /// Whether each candidate is always shown in full.
    pub(crate) pinned: Vec<bool>,
    pub(crate) group: Vec<Option<usize>>,
    /// Candidates that are shown together or not at all.
    pub(crate) members: Vec<Vec<usize>>,
    pub(crate) newest: Option<usize>,
}

impl BlockGroups {
    /// Finds the groups of the blocks that can be shown.
    pub(crate) fn new(blocks: &[Block<'_>], metas: &[BlockMeta<'_>], shown: &[usize]) -> Self {
        let newest = shown.iter().rposition(|&i| is_user_turn(&blocks[i]));
        let calls = shown.iter().enumerate().filter_map(|(at, &i)| {
            let ToolCall { id, is_result } = tool_call(&blocks[i], &metas[i])?;
            Some((at, id, is_result))
        });
        let own = shown.iter().map(|&i| (metas[i].priority, metas[i].pinned)).unzip();
        Self::from_parts(own, group_tool_calls(calls), newest)
    }

    /// Combines the priorities and pins of candidates with their groups and the newest user turn.
    ///
    /// All members of a group take the highest priority among them, and a pinned one pins all. The
    /// newest user turn counts as High if it is Normal, and so does its group. Pinned candidates
    /// count as Critical.
    pub(crate) fn from_parts(
        (priorities, pinned): (Vec<Priority>, Vec<bool>),
        members: Vec<Vec<usize>>,
        newest: Option<usize>,
    ) -> Self {
        let own = newest.map(|newest| priorities[newest]);
        let group = vec![None; priorities.len()];
        let mut groups = Self { priorities, pinned, group, members, newest: None };
        for (group, members) in groups.members.iter().enumerate() {
            let highest = members.iter().map(|&at| groups.priorities[at]).min();
            let pinned = members.iter().any(|&at| groups.pinned[at]);
            for &at in members {
                groups.group[at] = Some(group);
                groups.pinned[at] = pinned;
                groups.priorities[at] = highest.unwrap_or_default();
            }
        }
        if let Some(newest) = newest
            && own == Some(Priority::Normal)
            && groups.priorities[newest] == Priority::Normal
        {
            let members = groups.group[newest].map(|group| groups.members[group].as_slice());
            for &at in members.unwrap_or(&[newest]) {
                groups.priorities[at] = Priority::High;
            }
        }
        for (priority, pinned) in groups.priorities.iter_mut().zip(&groups.pinned) {
            if *pinned {
                *priority = Priority::Critical;
            }
        }
        groups.newest = newest.filter(|&newest| groups.priorities[newest] != Priority::Critical);
        groups
    }
}

pub(crate) fn is_user_turn(block: &Block<'_>) -> bool {
    matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User)
}

pub(crate) struct ToolCall<'b> {
    pub(crate) id: &'b str,
    /// Whether the block is a result or a turn of role tool, not a call.
    pub(crate) is_result: bool,
}

/// Returns the tool call that a block belongs to; an empty id names none.
pub(crate) fn tool_call<'b>(block: &'b Block<'_>, meta: &'b BlockMeta<'_>) -> Option<ToolCall<'b>> {
    let (id, is_result) = match &block.content {
        BlockContent::Conversation(turn) => {
            (turn.tool_call_id.as_deref()?, turn.role == Role::Tool)
        }
        // The format has no field for it. A result that is a file or a diff may be stored as such
        // (RFC 0010 §5.1).
        _ => (meta.tool_call_id.as_deref()?, true),
    };
    (!id.is_empty()).then_some(ToolCall { id, is_result })
}

/// The group that blocks of an id join.
#[derive(Clone, Copy)]
struct OpenGroup {
    group: usize,
    /// Whether it has a result already.
    answered: bool,
}

/// Groups blocks of the same tool call; each is its position, its id, and whether it is a result.
///
/// An id may be used again: a call that comes after a result of its id begins a new group. Blocks
/// after the first [`GROUP_MAX`] of a group stand alone, until a call begins the next.
pub(crate) fn group_tool_calls<K: Hash + Eq>(
    calls: impl Iterator<Item = (usize, K, bool)>,
) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut open: HashMap<K, OpenGroup, RandomState> = HashMap::default();
    for (at, id, is_result) in calls {
        let fresh = OpenGroup { group: groups.len(), answered: false };
        let current = open.entry(id).or_insert(fresh);
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
