//! What blocks are to each other: pinned, of one tool call, the newest question
//! (RFC 0005 §5).

use std::collections::HashMap;

use lcp_types::{Block, BlockContent, Priority, Role};

use crate::meta::Meta;

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
    pub(super) fn new(blocks: &[Block<'_>], metas: &[Meta<'_>], shown: &[usize]) -> Self {
        let mut relations = Self {
            priorities: shown.iter().map(|&i| metas[i].priority).collect(),
            pinned: shown.iter().map(|&i| metas[i].pinned).collect(),
            group: vec![None; shown.len()],
            groups: groups(blocks, metas, shown),
            newest: None,
        };
        for (group, members) in relations.groups.iter().enumerate() {
            let highest = members.iter().map(|&at| relations.priorities[at]).min();
            let pinned = members.iter().any(|&at| relations.pinned[at]);
            for &at in members {
                relations.group[at] = Some(group);
                relations.pinned[at] = pinned;
                relations.priorities[at] = highest.unwrap_or_default();
            }
        }
        for (priority, pinned) in relations.priorities.iter_mut().zip(&relations.pinned) {
            if *pinned {
                *priority = Priority::Critical;
            }
        }
        relations.newest = shown.iter().rposition(|&i| is_user_turn(&blocks[i]));
        relations.newest = relations.newest.filter(|&newest| {
            let priority = &mut relations.priorities[newest];
            if *priority == Priority::Normal {
                *priority = Priority::High;
            }
            *priority != Priority::Critical
        });
        relations
    }
}

fn is_user_turn(block: &Block<'_>) -> bool {
    matches!(&block.content, BlockContent::Conversation(turn) if turn.role == Role::User)
}

/// Blocks of the same tool call, where there are several.
fn groups(blocks: &[Block<'_>], metas: &[Meta<'_>], shown: &[usize]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (at, &i) in shown.iter().enumerate() {
        let id = match &blocks[i].content {
            BlockContent::Conversation(turn) => turn.tool_call_id.as_deref(),
            // The format has no field for it.
            BlockContent::ToolResult(_) => metas[i].tool_call_id.as_deref(),
            _ => None,
        };
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            let group = *known.entry(id).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(at);
        }
    }
    groups.retain(|members| members.len() > 1);
    groups
}
