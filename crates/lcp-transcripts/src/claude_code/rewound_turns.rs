//! Finds rewound turns: the user went back to an earlier point and wrote another prompt there.
//!
//! Each line names its predecessor. The conversation is the chain of lines that leads to the last
//! message. A branch that leaves the chain is rewound, from its first prompt on, if the chain also
//! continues with a prompt at that point. All other lines outside of the chain are imported,
//! because
//!
//! - the results of parallel calls follow the same line, and
//! - a chain breaks if a session is compacted or continued elsewhere.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::{LineFields, is_aside, is_meta, is_summary};
use crate::raw_json::{self, Fields};

/// A line that has an id and can have successors.
struct Node {
    kind: Kind,
    /// The index of the preceding node. It is always smaller than the index of this node.
    parent: Option<usize>,
    /// `true` if the line names no known predecessor, so that `parent` is only the previous node.
    is_broken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A prompt of the user.
    Prompt,
    /// Any other part of the conversation.
    Message,
    /// A line outside of the conversation: a note of the program or part of a side conversation.
    Other,
}

/// The decision about a line.
#[derive(Clone, Copy)]
enum LineOutcome {
    Shown,
    /// Outside of the chain, on a branch without a prompt so far. The branch leaves the chain at
    /// this node, or begins the session if there is no node.
    Undecided(Option<usize>),
    Rewound,
}

/// Returns the ids of the lines that belong to rewound turns.
pub(super) fn rewound_ids<'l>(lines: impl Iterator<Item = &'l LineFields<'l>>) -> HashSet<String> {
    let (ids, nodes) = nodes(lines);
    let Some(last) = nodes.iter().rposition(|node| node.kind != Kind::Other) else {
        return HashSet::new();
    };
    // The kind of the message with which the chain continues after each of its nodes, and at its
    // beginning (`None`).
    let mut goes_on: HashMap<Option<usize>, Kind> = HashMap::new();
    let mut chain = vec![false; nodes.len()];
    let (mut at, mut next) = (Some(last), Kind::Other);
    while let Some(node) = at {
        chain[node] = true;
        goes_on.insert(at, next);
        if nodes[node].kind != Kind::Other {
            next = nodes[node].kind;
        }
        at = nodes[node].parent;
    }
    goes_on.insert(None, next);
    let mut outcomes: Vec<LineOutcome> = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let before = match node.parent {
            Some(parent) if chain[parent] => LineOutcome::Undecided(Some(parent)),
            Some(parent) => outcomes[parent],
            None => LineOutcome::Undecided(None),
        };
        let outcome = match before {
            _ if chain[index] || node.is_broken => LineOutcome::Shown,
            LineOutcome::Undecided(fork) if node.kind == Kind::Prompt => match goes_on.get(&fork) {
                Some(Kind::Prompt) => LineOutcome::Rewound,
                _ => LineOutcome::Shown,
            },
            before => before,
        };
        outcomes.push(outcome);
    }
    let is_rewound = outcomes.iter().map(|outcome| matches!(outcome, LineOutcome::Rewound));
    ids.into_iter().zip(is_rewound).filter(|(_, is_it)| *is_it).map(|(id, _)| id).collect()
}

/// Returns the lines that have an id as nodes in order, with their ids.
fn nodes<'l>(lines: impl Iterator<Item = &'l LineFields<'l>>) -> (Vec<String>, Vec<Node>) {
    let (mut ids, mut nodes) = (Vec::new(), Vec::<Node>::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    // The last node that is not part of a side conversation.
    let mut before = None;
    for line @ LineFields { line: fields, .. } in lines {
        let Some(id) = fields.string("uuid").filter(|id| !places.contains_key(id)) else {
            continue;
        };
        let is_aside = is_aside(fields);
        let kind = if is_aside { Kind::Other } else { kind(line) };
        let mut named = ["parentUuid", "logicalParentUuid"]
            .iter()
            .filter_map(|key| places.get(&fields.string(key)?).copied());
        // A prompt whose predecessor is explicitly null is a beginning.
        let is_beginning = kind == Kind::Prompt
            && fields.has("parentUuid")
            && fields.get("parentUuid").is_none()
            && fields.get("logicalParentUuid").is_none();
        let (parent, is_broken) = match named.next() {
            Some(parent) => (Some(parent), false),
            None if is_beginning => (None, false),
            // A side conversation follows the line that started it.
            None => (before, !is_aside),
        };
        places.insert(id.clone(), nodes.len());
        if !is_aside {
            before = Some(nodes.len());
        }
        nodes.push(Node { kind, parent, is_broken });
        ids.push(id);
    }
    (ids, nodes)
}

fn kind(LineFields { line: fields, message }: &LineFields<'_>) -> Kind {
    let kind = fields.string("type");
    let content = message.as_ref().and_then(|message| message.get("content"));
    match (kind.as_deref(), content) {
        _ if is_meta(fields) => Kind::Other,
        (Some("assistant"), Some(_)) => Kind::Message,
        (Some("user"), Some(content)) => {
            if is_summary(fields) || has_result(content) {
                Kind::Message
            } else {
                Kind::Prompt
            }
        }
        _ => Kind::Other,
    }
}

/// Returns whether a message contains a tool result.
pub(super) fn has_result(content: &RawValue) -> bool {
    // Most contents are not parsed.
    if memchr::memmem::find(content.get().as_bytes(), b"tool_result").is_none() {
        return false;
    }
    let parts = raw_json::array(content).unwrap_or_default();
    let mut kinds = parts.into_iter().filter_map(|part| Fields::read(part)?.string("type"));
    kinds.any(|kind| kind == "tool_result")
}
