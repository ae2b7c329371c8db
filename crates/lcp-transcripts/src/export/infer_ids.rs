//! Infers the calls of results without an id.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use lcp_types::{BlockContent, Role, Tag};

use super::ExportBlock;
use super::annotations::Annotations;
use crate::annotation_keys;

/// Returns the ids of the calls that results without an id answer, by the index of the result.
///
/// A result is matched only if exactly one call is open. The detail of the blocks makes no
/// difference.
pub(super) fn infer_ids<'b>(
    blocks: &'b [ExportBlock<'_>],
    tags: &Annotations<'b>,
) -> HashMap<usize, Cow<'b, str>> {
    let answered: HashSet<_> =
        blocks.iter().enumerate().filter_map(|(at, block)| named(at, block, tags)).collect();
    let mut found = HashMap::new();
    let mut open = Vec::<(&str, Cow<'_, str>)>::new();
    // The id and the message of the previous result, which can have further parts.
    let mut last = None::<(&str, Cow<'_, str>)>;
    for (at, block) in blocks.iter().enumerate() {
        let is_named = named(at, block, tags).is_some();
        match &block.block.content {
            content if content.is_metadata() || is_named => {}
            BlockContent::Conversation(turn) if turn.role == Role::Assistant => {
                let id = turn.tool_call_id.as_deref().filter(|id| !id.is_empty());
                if let Some(id) = id.filter(|id| !answered.contains(*id)) {
                    open.push((id, turn.content.to_str_lossy()));
                }
                last = None;
            }
            content => {
                let Some(tool) = tool(content) else {
                    // An extension may hold thinking of the model, so it does not end the open
                    // calls.
                    if !matches!(content, BlockContent::Extension(_)) {
                        open.clear();
                        last = None;
                    }
                    continue;
                };
                let message = tags.get(at, annotation_keys::MESSAGE);
                if let Some((id, of)) = &last
                    && Some(of) == message.as_ref()
                {
                    found.insert(at, Cow::Borrowed(*id));
                    continue;
                }
                last = None;
                if let [(id, call)] = open.as_slice()
                    && (tool.is_empty() || is_of(call, tool))
                {
                    found.insert(at, Cow::Borrowed(*id));
                    last = message.map(|message| (*id, message));
                    open.clear();
                }
            }
        }
    }
    found
}

/// Returns the call id that a part of a result names.
fn named<'b>(
    at: usize,
    block: &'b ExportBlock<'_>,
    tags: &Annotations<'b>,
) -> Option<Cow<'b, str>> {
    let own = match &block.block.content {
        BlockContent::Conversation(turn) if turn.role == Role::Tool => {
            turn.tool_call_id.as_deref().map(Cow::Borrowed)
        }
        _ => None,
    };
    own.or_else(|| tags.get(at, Tag::TOOL_CALL_ID)).filter(|id| !id.is_empty())
}

/// Returns the tool of a result, or an empty name if it is unknown. `None` if the block is not a
/// result.
fn tool<'b>(content: &'b BlockContent<'_>) -> Option<&'b str> {
    match content {
        BlockContent::ToolResult(result) => Some(&result.tool_name),
        BlockContent::Conversation(turn) if turn.role == Role::Tool => Some(""),
        _ => None,
    }
}

/// Returns whether a call, `NAME ARGUMENTS`, is a call of this tool.
fn is_of(call: &str, tool: &str) -> bool {
    call.strip_prefix(tool).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
