//! Turns that people took back: they went back to an earlier place and asked otherwise.
//!
//! Each line names the one that it follows. The conversation is the chain of the last message;
//! what was taken back begins with a prompt beside the one that the chain goes on with.
//! Whatever else is not in the chain stays: results of calls that were made at once share a
//! line before them, and chains break where a session is compacted or goes on elsewhere.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::{is_aside, is_meta};
use crate::raw_json::{self, Fields, Line};

/// A line that others can follow.
struct Node {
    kind: Kind,
    /// The index of the node that it follows; always an earlier one.
    parent: Option<usize>,
    /// Whether it is only taken to follow the node before it.
    is_broken: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What a person asks.
    Prompt,
    /// Any other part of the conversation.
    Message,
    /// What is beside it: notes of the program, side conversations.
    Other,
}

/// What becomes of a line that the chain may not have.
#[derive(Clone, Copy)]
enum LineOutcome {
    ExportDetail,
    /// Beside the chain, without a prompt so far: below this node, or the beginning.
    Undecided(Option<usize>),
    Rewound,
}

/// The ids of the lines that are parts of turns that were taken back.
pub(super) fn rewound_ids(lines: &[Line<'_>]) -> HashSet<String> {
    let (ids, nodes) = nodes(lines);
    let Some(last) = nodes.iter().rposition(|node| node.kind != Kind::Other) else {
        return HashSet::new();
    };
    // What the chain goes on with: behind each of its nodes, and at its beginning.
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
            _ if chain[index] || node.is_broken => LineOutcome::ExportDetail,
            LineOutcome::Undecided(fork) if node.kind == Kind::Prompt => match goes_on.get(&fork) {
                Some(Kind::Prompt) => LineOutcome::Rewound,
                _ => LineOutcome::ExportDetail,
            },
            before => before,
        };
        outcomes.push(outcome);
    }
    let is_rewound = outcomes.iter().map(|outcome| matches!(outcome, LineOutcome::Rewound));
    ids.into_iter().zip(is_rewound).filter(|(_, is_it)| *is_it).map(|(id, _)| id).collect()
}

/// The lines with an id, in order, and their ids.
fn nodes(lines: &[Line<'_>]) -> (Vec<String>, Vec<Node>) {
    let (mut ids, mut nodes) = (Vec::new(), Vec::<Node>::new());
    let mut places: HashMap<String, usize> = HashMap::new();
    // The last node that is no part of a side conversation.
    let mut before = None;
    for line in lines {
        let Some(fields) = line.value.as_ref().ok().and_then(|value| Fields::read(value)) else {
            continue;
        };
        let Some(id) = fields.string("uuid").filter(|id| !places.contains_key(id)) else {
            continue;
        };
        let is_aside = is_aside(&fields);
        let kind = if is_aside { Kind::Other } else { kind(&fields) };
        let mut named = ["parentUuid", "logicalParentUuid"]
            .iter()
            .filter_map(|key| places.get(&fields.string(key)?).copied());
        // A prompt that says it follows nothing is a beginning.
        let is_beginning = kind == Kind::Prompt
            && fields.has("parentUuid")
            && fields.get("parentUuid").is_none()
            && fields.get("logicalParentUuid").is_none();
        let (parent, is_broken) = match named.next() {
            Some(parent) => (Some(parent), false),
            None if is_beginning => (None, false),
            // An agent is at work where it is called.
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

fn kind(fields: &Fields<'_>) -> Kind {
    let kind = fields.string("type");
    let content = fields.get("message").and_then(Fields::read).and_then(|of| of.get("content"));
    match (kind.as_deref(), content) {
        _ if is_meta(fields) => Kind::Other,
        (Some("assistant"), Some(_)) => Kind::Message,
        (Some("user"), Some(content)) => {
            let is_summary =
                fields.get("isCompactSummary").and_then(raw_json::boolean) == Some(true);
            if is_summary || has_result(content) { Kind::Message } else { Kind::Prompt }
        }
        _ => Kind::Other,
    }
}

/// Whether a message has a result of a tool.
pub(super) fn has_result(content: &RawValue) -> bool {
    let parts = raw_json::array(content).unwrap_or_default();
    let mut kinds = parts.into_iter().filter_map(|part| Fields::read(part)?.string("type"));
    kinds.any(|kind| kind == "tool_result")
}
