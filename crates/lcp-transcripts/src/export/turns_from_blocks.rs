//! Converts blocks and their tags to messages.

use std::borrow::Cow;
use std::collections::HashSet;

use lcp_types::Tag;

use super::annotations::Annotations;
use super::parts::{BlockPart, answer, block_part};
use super::tool_names::ToolNames;
use super::turn::{ExtraFields, Part, PartKind, Turn};
use super::{ExportBlock, ExportDetail, ExportReport, infer_ids};
use crate::{Format, Provider, annotation_keys, raw_json};

/// The fields of requests that hold their messages.
#[rustfmt::skip]
const MESSAGE_KEYS: [&str; 7] = [
    "messages", "system", "input", "instructions", "contents", "systemInstruction",
    "system_instruction",
];

/// The messages, and the fields of their request.
pub(super) struct TurnList<'b> {
    pub(super) turns: Vec<Turn<'b>>,
    pub(super) request: Option<String>,
    /// The renamed tools.
    pub(super) names: ToolNames,
}

/// Returns the messages of a pack in the order of its blocks.
pub(super) fn read<'b>(
    provider: Provider,
    blocks: &'b [ExportBlock<'_>],
    report: &mut ExportReport,
) -> TurnList<'b> {
    let tags = Annotations::collect(blocks);
    let inferred_ids = infer_ids::infer_ids(blocks, &tags);
    let names = ToolNames::collect(provider, blocks, &tags);
    let (mut turns, mut requests) = (Vec::<Turn<'b>>::new(), Vec::new());
    let mut cut = HashSet::new();
    let mut answered = None;
    for (index, block) in blocks.iter().enumerate() {
        if block.block.content.is_metadata() {
            continue;
        }
        let message =
            tags.get(index, annotation_keys::MESSAGE).and_then(|number| number.parse().ok());
        if block.detail == ExportDetail::Omitted {
            cut.extend(message);
            continue;
        }
        if let Some(fields) = request(provider, block) {
            requests.push(names.in_request(fields));
            continue;
        }
        let mut part = block_part(provider, index, block, &tags, &inferred_ids);
        if part.is_none() {
            report.leave_out(&name(block));
            let answered = answered.get_or_insert_with(|| answered_ids(blocks, &tags));
            part = left_out_result(index, block, &tags, answered);
        }
        let Some(mut part) = part else { continue };
        if let Some(PartKind::Call(call)) = &mut part.kind
            && let Some(name) = names.get(&call.name)
        {
            call.name = name.to_owned().into();
        }
        let fits = |turn: &Turn<'b>| {
            message.is_some() && turn.message == message && turn.speaker == part.speaker
        };
        if !turns.last().is_some_and(fits) {
            turns.push(Turn::new(part.speaker, message, Vec::new()));
        }
        let Some(turn) = turns.last_mut() else { continue };
        if let Some(content) = tags.get_own(provider, index, annotation_keys::CONTENT) {
            turn.content = Some(content);
        }
        if let Some(item) = tags.get_own(provider, index, annotation_keys::ITEM) {
            turn.item = Some(item);
        }
        turn.fields.extend(part.fields.map(|json| ExtraFields { block: index, json }));
        if let Some(kind) = part.kind {
            add(turn, index, kind, provider, &tags);
        }
    }
    for turn in &mut turns {
        // The extra fields of a message are omitted with the last of its parts.
        if turn.parts.is_empty() && turn.message.is_some_and(|message| cut.contains(&message)) {
            turn.fields.clear();
        }
    }
    if requests.len() > 1 {
        // The messages cannot be assigned to one of several requests.
        for _ in requests.drain(..) {
            report.leave_out("request");
        }
    }
    TurnList { turns, request: requests.pop(), names }
}

/// Adds a part to a message. The parts of one result are merged.
fn add<'b>(
    turn: &mut Turn<'b>,
    index: usize,
    kind: PartKind<'b>,
    provider: Provider,
    tags: &Annotations<'b>,
) {
    let blocks = vec![index];
    let (part_fields, result_fields) = (
        tags.get_own(provider, index, annotation_keys::PART),
        tags.get_own(provider, index, annotation_keys::RESULT),
    );
    let PartKind::ToolResult(mut answer) = kind else {
        turn.parts.push(Part { blocks, kind, fields: part_fields });
        return;
    };
    for part in &mut answer.parts {
        part.blocks.clone_from(&blocks);
        part.fields.clone_from(&part_fields);
    }
    // The first block of a result has the fields of the result.
    if let (Some(last), None) = (turn.parts.last_mut(), &result_fields)
        && let PartKind::ToolResult(before) = &mut last.kind
        && before.id == answer.id
        && turn.message.is_some()
    {
        before.failed |= answer.failed;
        before.parts.append(&mut answer.parts);
        last.blocks.push(index);
        return;
    }
    turn.parts.push(Part { blocks, kind: PartKind::ToolResult(answer), fields: result_fields });
}

/// Returns the ids of the results in blocks that are not extensions.
fn answered_ids<'b>(blocks: &[ExportBlock<'_>], tags: &Annotations<'b>) -> HashSet<Cow<'b, str>> {
    let others =
        blocks.iter().enumerate().filter(|(_, block)| block.block.as_extension().is_none());
    others.filter_map(|(index, _)| tags.get(index, Tag::TOOL_CALL_ID)).collect()
}

/// Returns a result with the type name of an omitted part, if the result has no other part. Without a
/// result, its call would be omitted, too.
fn left_out_result<'b>(
    index: usize,
    block: &ExportBlock<'_>,
    tags: &Annotations<'b>,
    answered: &mut HashSet<Cow<'b, str>>,
) -> Option<BlockPart<'b>> {
    let id = tags.get(index, Tag::TOOL_CALL_ID).filter(|id| answered.insert(id.clone()))?;
    let text = format!("[{}]", block.block.as_extension()?.type_name);
    Some(answer(Some(id), false, PartKind::Text(text.into())))
}

/// Returns the name under which the report counts an omitted block.
fn name(block: &ExportBlock<'_>) -> String {
    match block.block.as_extension() {
        Some(extension) => extension.type_name.to_string(),
        None => block.block.block_type().to_string(),
    }
}

/// Returns the fields of a request of this provider other than its messages.
fn request(provider: Provider, block: &ExportBlock<'_>) -> Option<String> {
    let extension = block.block.as_extension()?;
    let format = Format::from_name(&extension.namespace)?;
    let is_it = extension.type_name == "request"
        && format.has_parts_of(provider)
        && block.detail == ExportDetail::Full;
    let text = extension.content.as_str().filter(|text| is_it && raw_json::is_json_object(text))?;
    Some(raw_json::without(text, &MESSAGE_KEYS))
}
