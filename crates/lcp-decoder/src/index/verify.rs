//! Comparison of an index with the blocks of its pack (RFC 0003 §5).

use std::collections::HashMap;

use lcp_types::{BlockIndex, BlockIndexBuilder, BlockType, ToolCallEntry};

use super::{IndexError, IndexErrorKind, PackIndex};
use crate::blocks::EventIter;
use crate::error::Error;
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;
use crate::reader::within;

/// Returns the errors of an index. `pack` is the whole pack.
pub(crate) fn verify(
    index: &PackIndex,
    pack: &[u8],
    options: DecodeOptions<'_>,
) -> Result<Vec<IndexError>, Error> {
    let mut wrong = Vec::new();
    let index_offset = index.footer.index_offset;
    let blocks = usize::try_from(index_offset).ok().and_then(|end| pack.get(..end));
    if blocks.map(crc32c::crc32c) != Some(index.footer.blocks_checksum) {
        wrong.push(IndexError::new(IndexErrorKind::BlocksChecksum, 0));
    }
    let mut builder = BlockIndexBuilder::default();
    let (mut bodies_known, mut annotations_known) = (true, true);
    let mut events = EventIter::new(pack, options);
    while let Some(event) = events.next() {
        let Event::Frame(frame) = event? else { continue };
        wrong.extend(compare_frame(index, pack, &frame));
        let block_type = frame.block_type;
        if let Ok(block) = events.decode(frame) {
            builder.push(&block);
        } else {
            // The body is in a content store, or it is malformed; decoding reports that error.
            builder.push_unknown(block_type);
            bodies_known = false;
            // Only annotations and extensions describe other blocks.
            annotations_known &=
                !matches!(block_type, BlockType::Annotation | BlockType::Extension);
        }
    }
    let fail = |what| IndexError::new(IndexErrorKind::ColumnMismatch { what }, index_offset);
    let actual = builder.finish();
    if actual.len() as u64 == index.footer.blocks {
        let columns = different_columns(&index.blocks, &actual, annotations_known, bodies_known);
        wrong.extend(columns.into_iter().map(fail));
    } else {
        wrong.push(fail("number of blocks"));
    }
    Ok(wrong)
}

fn compare_frame(index: &PackIndex, pack: &[u8], frame: &Frame<'_>) -> Option<IndexError> {
    let block = u32::try_from(frame.index).ok()?;
    let fail = |kind| Some(IndexError::new(kind, frame.offset));
    let end = frame.body_offset + frame.body.len() as u64;
    let differs = |what| fail(IndexErrorKind::BlockMismatch { block, what });
    if index.frame(block) != Some(frame.offset..end) {
        return differs("position");
    }
    let stored = within(pack, 0, &(frame.offset..end)).unwrap_or_default();
    if index.checksum(block).is_some_and(|check| check != crc32c::crc32c(stored)) {
        return fail(IndexErrorKind::FrameChecksum { block });
    }
    if index.blocks.types.get(block as usize) != Some(&frame.block_type.code()) {
        return differs("type");
    }
    if index.flags(block) != Some(frame.flags) {
        return differs("flags");
    }
    None
}

/// Returns the columns that differ from the blocks. Columns whose blocks could not be decoded are
/// skipped.
fn different_columns(
    stored: &BlockIndex,
    actual: &BlockIndex,
    annotations_known: bool,
    bodies_known: bool,
) -> Vec<&'static str> {
    // Another writer may number names and ids differently and omit labels.
    let has_labels = stored.labels.codes().iter().any(|head| *head != 0);
    let labels = !has_labels || stored.labels.iter().eq(actual.labels.iter());
    let columns = [
        ("types", true, stored.types == actual.types),
        ("metadata", annotations_known, stored.metadata == actual.metadata),
        ("priorities", annotations_known, stored.priorities == actual.priorities),
        ("pins", annotations_known, stored.pinned == actual.pinned),
        ("ranks", annotations_known, stored.ranks == actual.ranks),
        ("categories", annotations_known, categories(stored).eq(categories(actual))),
        ("tool calls", bodies_known, calls(stored) == calls(actual)),
        ("newest user turn", bodies_known, stored.newest_user == actual.newest_user),
        ("summaries", bodies_known, stored.summaries == actual.summaries),
        ("annotations", annotations_known, stored.annotations == actual.annotations),
        ("labels", bodies_known, labels),
    ];
    let different = columns.into_iter().filter(|(_, is_known, agrees)| *is_known && !agrees);
    different.map(|(what, _, _)| what).collect()
}

fn categories(index: &BlockIndex) -> impl Iterator<Item = (u32, Option<&str>)> {
    let name = |name: u32| index.category_names.get(name as usize).map(String::as_str);
    index.categories.iter().map(move |&(block, category)| (block, name(category)))
}

/// Returns the tool calls, with ids renumbered in order of their first use.
fn calls(index: &BlockIndex) -> Vec<ToolCallEntry> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let call = |call: &ToolCallEntry| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        ToolCallEntry { id: *numbers.entry(call.id).or_insert(next), ..*call }
    };
    index.calls.iter().map(call).collect()
}
