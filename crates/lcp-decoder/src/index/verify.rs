//! Comparison of an index with the blocks of its pack (RFC 0003 §5).

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

use lcp_types::{Block, BlockIndex, BlockIndexBuilder, BlockType, ToolCallEntry};

use super::{IndexError, IndexErrorKind, PackIndex};
use crate::blocks::EventIter;
use crate::error::{Error, ReadError};
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;
use crate::read_at::{ReadAt, SourceReader};
use crate::reader::within;
use crate::stream::{StreamDecoder, StreamError};

/// Returns the errors of an index. `pack` is the whole pack.
pub(crate) fn verify(
    index: &PackIndex,
    pack: &[u8],
    options: DecodeOptions<'_>,
) -> Result<Vec<IndexError>, Error> {
    let mut verifier = Verifier::new(index);
    let blocks = usize::try_from(index.footer.index_offset).ok().and_then(|end| pack.get(..end));
    verifier.compare_checksum(blocks.map(crc32c::crc32c));
    let mut events = EventIter::new(pack, options);
    while let Some(event) = events.next() {
        let Event::Frame(frame) = event? else { continue };
        verifier.compare_frame(&frame, within(pack, 0, &frame.range()).unwrap_or_default());
        let block_type = frame.block_type;
        verifier.push(block_type, events.decode(frame).as_ref().ok());
    }
    Ok(verifier.finish())
}

/// Returns the errors of an index, without the whole pack in memory.
pub(crate) fn verify_source<S: ReadAt>(
    index: &PackIndex,
    source: &S,
    options: DecodeOptions<'_>,
) -> Result<Vec<IndexError>, ReadError> {
    let mut verifier = Verifier::new(index);
    let (mut checksum, mut chunk) = (0, vec![0; CHUNK_BYTES]);
    let mut blocks = SourceReader::new(source)?.take(index.footer.index_offset);
    loop {
        let len = blocks.read(&mut chunk)?;
        if len == 0 {
            break;
        }
        checksum = crc32c::crc32c_append(checksum, chunk.get(..len).unwrap_or_default());
    }
    verifier.compare_checksum(Some(checksum).filter(|_| blocks.limit() == 0));
    let mut stream = StreamDecoder::new(SourceReader::new(source)?, options);
    let read_error = |error| match error {
        StreamError::Read { source, .. } => ReadError::Io(source),
        StreamError::Decode(error) => ReadError::Decode(error),
    };
    while let Some(event) = stream.next_event().map_err(read_error)? {
        let Event::Frame(frame) = event else { continue };
        // The event lacks the bytes before the body.
        let stored = source.read(std::slice::from_ref(&frame.range()))?;
        verifier.compare_frame(&frame, stored.first().map(Cow::as_ref).unwrap_or_default());
        drop(stored);
        let block_type = frame.block_type;
        verifier.push(block_type, stream.decode(frame).as_ref().ok());
    }
    Ok(verifier.finish())
}

/// The number of bytes that are read at once for the checksum of all blocks.
const CHUNK_BYTES: usize = 1 << 20;

/// The comparison of an index with the blocks so far.
struct Verifier<'i> {
    index: &'i PackIndex,
    wrong: Vec<IndexError>,
    builder: BlockIndexBuilder,
    bodies_known: bool,
    annotations_known: bool,
}

impl<'i> Verifier<'i> {
    fn new(index: &'i PackIndex) -> Self {
        Self {
            index,
            wrong: Vec::new(),
            builder: BlockIndexBuilder::default(),
            bodies_known: true,
            annotations_known: true,
        }
    }

    fn compare_checksum(&mut self, found: Option<u32>) {
        if found != Some(self.index.footer.blocks_checksum) {
            self.wrong.push(IndexError::new(IndexErrorKind::BlocksChecksum, 0));
        }
    }

    fn compare_frame(&mut self, frame: &Frame<'_>, stored: &[u8]) {
        self.wrong.extend(compare_frame(self.index, frame, stored));
    }

    /// Adds a block, or `None` if its body is in a content store or malformed. Decoding reports the
    /// latter.
    fn push(&mut self, block_type: BlockType, block: Option<&Block<'_>>) {
        if let Some(block) = block {
            return self.builder.push(block);
        }
        self.builder.push_unknown(block_type);
        self.bodies_known = false;
        // Only annotations and extensions describe other blocks.
        self.annotations_known &=
            !matches!(block_type, BlockType::Annotation | BlockType::Extension);
    }

    fn finish(self) -> Vec<IndexError> {
        let Self { index, mut wrong, builder, bodies_known, annotations_known } = self;
        let fail = |what| {
            IndexError::new(IndexErrorKind::ColumnMismatch { what }, index.footer.index_offset)
        };
        let actual = builder.finish();
        if actual.len() as u64 == index.footer.blocks {
            let columns =
                different_columns(&index.table.blocks, &actual, annotations_known, bodies_known);
            wrong.extend(columns.into_iter().map(fail));
        } else {
            wrong.push(fail("number of blocks"));
        }
        wrong
    }
}

fn compare_frame(index: &PackIndex, frame: &Frame<'_>, stored: &[u8]) -> Option<IndexError> {
    let block = u32::try_from(frame.index).ok()?;
    let fail = |kind| Some(IndexError::new(kind, frame.offset));
    let differs = |what| fail(IndexErrorKind::BlockMismatch { block, what });
    if index.frame(block) != Some(frame.range()) {
        return differs("position");
    }
    if index.checksum(block).is_some_and(|check| check != crc32c::crc32c(stored)) {
        return fail(IndexErrorKind::FrameChecksum { block });
    }
    if index.table.blocks.types.get(block as usize) != Some(&frame.block_type.code()) {
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
        ("passages", annotations_known, stored.passages == actual.passages),
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
