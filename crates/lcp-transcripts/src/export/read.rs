//! From blocks and their tags to messages.

use std::collections::HashSet;

use super::names::Names;
use super::piece::piece;
use super::said::Tags;
use super::turn::{Beside, Part, Turn, What};
use super::{ExportBlock, ExportReport, Shown, unnamed};
use crate::{Format, Provider, annotation_keys, json};

/// Messages, and what the request had beside them.
pub(super) struct Read<'b> {
    pub(super) turns: Vec<Turn<'b>>,
    pub(super) request: Option<String>,
    /// Tools that are called otherwise.
    pub(super) names: Names,
}

/// The messages of a pack, as they stand in it.
pub(super) fn read<'b>(
    target: Provider,
    blocks: &'b [ExportBlock<'_>],
    report: &mut ExportReport,
) -> Read<'b> {
    let tags = Tags::of(blocks);
    let unnamed = unnamed::calls(blocks, &tags);
    let names = Names::of(blocks, &tags);
    let (mut turns, mut requests) = (Vec::<Turn<'b>>::new(), Vec::new());
    let mut cut = HashSet::new();
    for (index, block) in blocks.iter().enumerate() {
        if block.block.content.is_metadata() {
            continue;
        }
        let message =
            tags.get(index, annotation_keys::MESSAGE).and_then(|number| number.parse().ok());
        if block.shown == Shown::Omitted {
            cut.extend(message);
            continue;
        }
        if let Some(fields) = request(target, block) {
            requests.push(names.in_request(fields));
            continue;
        }
        let Some(mut piece) = piece(target, index, block, &tags, &unnamed) else {
            report.leave_out(&name(block));
            continue;
        };
        if let Some(What::Call(call)) = &mut piece.what
            && let Some(name) = names.get(&call.name)
        {
            call.name = name.to_owned().into();
        }
        let fits = |turn: &Turn<'b>| {
            message.is_some() && turn.message == message && turn.speaker == piece.speaker
        };
        if !turns.last().is_some_and(fits) {
            turns.push(Turn::of(piece.speaker, message, Vec::new()));
        }
        let Some(turn) = turns.last_mut() else { continue };
        if let Some(content) = tags.own(target, index, annotation_keys::CONTENT) {
            turn.content = Some(content);
        }
        turn.fields.extend(piece.fields.map(|json| Beside { block: index, json }));
        if let Some(what) = piece.what {
            add(turn, index, what, target, &tags);
        }
    }
    for turn in &mut turns {
        // What stood beside parts goes with the last of them.
        if turn.parts.is_empty() && turn.message.is_some_and(|message| cut.contains(&message)) {
            turn.fields.clear();
        }
    }
    if requests.len() > 1 {
        // Which of them the messages belong to is not known.
        for _ in requests.drain(..) {
            report.leave_out("request");
        }
    }
    Read { turns, request: requests.pop(), names }
}

/// Adds a part to a message; parts of one result become one.
fn add<'b>(turn: &mut Turn<'b>, index: usize, what: What<'b>, target: Provider, tags: &Tags<'b>) {
    let blocks = vec![index];
    let (part_fields, result_fields) = (
        tags.own(target, index, annotation_keys::PART),
        tags.own(target, index, annotation_keys::RESULT),
    );
    let What::Answer(mut answer) = what else {
        turn.parts.push(Part { blocks, what, fields: part_fields });
        return;
    };
    for part in &mut answer.parts {
        part.blocks.clone_from(&blocks);
        part.fields.clone_from(&part_fields);
    }
    // The fields of a result stand with its first block.
    if let (Some(last), None) = (turn.parts.last_mut(), &result_fields)
        && let What::Answer(before) = &mut last.what
        && before.id == answer.id
        && turn.message.is_some()
    {
        before.failed |= answer.failed;
        before.parts.append(&mut answer.parts);
        last.blocks.push(index);
        return;
    }
    turn.parts.push(Part { blocks, what: What::Answer(answer), fields: result_fields });
}

/// What a block is called that is left out.
fn name(block: &ExportBlock<'_>) -> String {
    match block.block.as_extension() {
        Some(extension) => extension.type_name.to_string(),
        None => block.block.block_type().to_string(),
    }
}

/// What a request of this provider had beside its messages.
fn request(target: Provider, block: &ExportBlock<'_>) -> Option<String> {
    let extension = block.block.as_extension()?;
    let format = Format::from_name(&extension.namespace)?;
    let is_it = extension.type_name == "request"
        && format.has_parts_of(target)
        && block.shown == Shown::Full;
    let text = extension.content.as_str().filter(|text| is_it && json::is_json_object(text))?;
    Some(json::without(text, &["messages", "system"]))
}
