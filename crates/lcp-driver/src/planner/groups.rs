//! Related blocks: pins, tool calls and the newest user turn (RFC 0005 §5).

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;
use lcp_types::{Block, BlockContent, BlockMeta, Priority, Role};

/// The maximum number of blocks of a group. A group is decided as a whole, at a cost for each
/// block.
const GROUP_MAX: usize = 64;

/// The effective priorities of candidates, and the groups they form.
#[derive(Debug, Default)]
pub(crate) struct BlockGroups {
    /// The effective priority of each candidate.
    pub(crate) priorities: Vec<Priority>,
    /// `true` for each candidate that is always shown in full.
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
    /// - All members of a group get the highest priority among them.
    /// - If one member is pinned, all are.
    /// - A newest user turn of priority Normal becomes High, and so does its group.
    /// - Pinned candidates become Critical.
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
    /// `true` if the block is a result or a turn of role tool; `false` if it is a call.
    pub(crate) is_result: bool,
}

/// Returns the tool call that a block belongs to. An empty id counts as no tool call.
pub(crate) fn tool_call<'b>(block: &'b Block<'_>, meta: &'b BlockMeta<'_>) -> Option<ToolCall<'b>> {
    let (id, is_result) = match &block.content {
        BlockContent::Conversation(turn) => {
            (turn.tool_call_id.as_deref()?, turn.role == Role::Tool)
        }
        // Other types have no field for a tool call, only the tag. Results that are files or diffs
        // may be stored with those types (RFC 0010 §5.1).
        _ => (meta.tool_call_id.as_deref()?, true),
    };
    (!id.is_empty()).then_some(ToolCall { id, is_result })
}

/// The current group of an id.
#[derive(Clone, Copy)]
struct OpenGroup {
    group: usize,
    /// `true` if the group already has a result.
    answered: bool,
}

/// Groups the blocks of each tool call. Each item of `calls` has the position of a block, its id,
/// and whether it is a result.
///
/// An id may be reused: a call that follows a result with its id begins a new group. Blocks after
/// the first [`GROUP_MAX`] of a group are not grouped until a call begins the next group.
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
