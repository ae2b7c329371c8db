//! A trailer beside the blocks that it speaks of (RFC 0003 §5).

use std::collections::HashMap;

use lcp_types::{BlockIndex, BlockIndexBuilder, BlockType, ToolCallEntry};

use super::{Trailer, TrailerError, TrailerErrorKind};
use crate::blocks::Events;
use crate::error::Error;
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;
use crate::reader::within;

/// What of a trailer is not so, given the whole pack.
pub(crate) fn verify(
    trailer: &Trailer,
    pack: &[u8],
    options: DecodeOptions<'_>,
) -> Result<Vec<TrailerError>, Error> {
    let mut wrong = Vec::new();
    let index_offset = trailer.footer.index_offset;
    let blocks = usize::try_from(index_offset).ok().and_then(|end| pack.get(..end));
    if blocks.map(crc32c::crc32c) != Some(trailer.footer.blocks_check) {
        wrong.push(TrailerError::new(TrailerErrorKind::BlocksCheck, 0));
    }
    let mut collector = BlockIndexBuilder::default();
    let (mut bodies_known, mut said_known) = (true, true);
    let mut events = Events::new(pack, options);
    while let Some(event) = events.next() {
        let Event::Frame(frame) = event? else { continue };
        wrong.extend(frame_differs(trailer, pack, &frame));
        let block_type = frame.block_type;
        if let Ok(block) = events.decode_once(frame) {
            collector.push(&block);
        } else {
            // Its body is stored elsewhere, or it is malformed, which is for others to tell.
            collector.push_unknown(block_type);
            bodies_known = false;
            // Only these can speak of others.
            said_known &= !matches!(block_type, BlockType::Annotation | BlockType::Extension);
        }
    }
    let fail = |what| TrailerError::new(TrailerErrorKind::Lies { what }, index_offset);
    if collector.len() as u64 == trailer.footer.blocks {
        let found = collector.finish();
        let lies = lies(&trailer.facts, &found, said_known, bodies_known);
        wrong.extend(lies.into_iter().map(fail));
    } else {
        wrong.push(fail("number"));
    }
    Ok(wrong)
}

/// What the trailer says of a frame that is not so.
fn frame_differs(trailer: &Trailer, pack: &[u8], frame: &Frame<'_>) -> Option<TrailerError> {
    let block = u32::try_from(frame.index).ok()?;
    let fail = |kind| Some(TrailerError::new(kind, frame.offset));
    let end = frame.body_offset + frame.body.len() as u64;
    let differs = |what| fail(TrailerErrorKind::Differs { block, what });
    if trailer.frame(block) != Some(frame.offset..end) {
        return differs("its place");
    }
    let stored = within(pack, 0, &(frame.offset..end)).unwrap_or_default();
    if trailer.check(block).is_some_and(|check| check != crc32c::crc32c(stored)) {
        return fail(TrailerErrorKind::FrameCheck { block });
    }
    if trailer.facts.types.get(block as usize) != Some(&frame.block_type.code()) {
        return differs("its type");
    }
    if trailer.flags(block) != Some(frame.flags) {
        return differs("its flags");
    }
    None
}

/// The columns that are not what the blocks make them, in what they speak of: those
/// that follow from what speaks of others, if all of that could be read, and those that
/// follow from other bodies, if all could.
fn lies(
    said: &BlockIndex,
    found: &BlockIndex,
    said_known: bool,
    bodies_known: bool,
) -> Vec<&'static str> {
    // Whoever wrote it may have numbered names and ids in another way, and left labels out.
    let has_labels = said.labels.codes().iter().any(|head| *head != 0);
    let labels = !has_labels || said.labels.iter().eq(found.labels.iter());
    let agree = [
        ("types", true, said.types == found.types),
        ("metadata", said_known, said.metadata == found.metadata),
        ("priorities", said_known, said.priorities == found.priorities),
        ("pins", said_known, said.pinned == found.pinned),
        ("ranks", said_known, said.ranks == found.ranks),
        ("categories", said_known, categories(said).eq(categories(found))),
        ("tool calls", bodies_known, calls(said) == calls(found)),
        ("newest user turn", bodies_known, said.newest_user == found.newest_user),
        ("summaries", bodies_known, said.summaries == found.summaries),
        ("annotations", said_known, said.annotations == found.annotations),
        ("labels", bodies_known, labels),
    ];
    let lies = agree.into_iter().filter(|(_, is_known, agrees)| *is_known && !agrees);
    lies.map(|(what, _, _)| what).collect()
}

/// The category of each block that has one.
fn categories(facts: &BlockIndex) -> impl Iterator<Item = (u32, Option<&str>)> {
    let name = |name: u32| facts.category_names.get(name as usize).map(String::as_str);
    facts.categories.iter().map(move |&(block, of)| (block, name(of)))
}

/// The blocks of tool calls, ids numbered as they come.
fn calls(facts: &BlockIndex) -> Vec<ToolCallEntry> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let call = |call: &ToolCallEntry| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        ToolCallEntry { id: *numbers.entry(call.id).or_insert(next), ..*call }
    };
    facts.calls.iter().map(call).collect()
}
