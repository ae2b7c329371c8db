//! The body of a block. The layers are decoded in this order: reference, compression, summary,
//! fields.

use std::borrow::Cow;
use std::mem;

use lcp_types::wire::{BLOCK_HAS_SUMMARY, BLOCK_RESERVED, HASH_BYTES};
use lcp_types::{Block, BlockContent, BlockType, ContentHash, ContentStore, RawBlock, limits};

use crate::error::{Error, ErrorKind, Result};
use crate::events::Frame;
use crate::fields::{self, Fields, Quota};
use crate::options::Limits;
use crate::owned_block;
use crate::reader::Reader;
use crate::zstd_payload;

/// The use of limited resources by the decoded blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResourceUse {
    /// The total size in bytes of decompressed and resolved bodies.
    pub(crate) decompressed: u64,
    /// The memory in bytes for nested records and unknown fields.
    pub(crate) nested: u64,
}

impl ResourceUse {
    #[cfg(feature = "rayon")]
    pub(crate) fn plus(self, more: Self) -> Self {
        Self {
            decompressed: self.decompressed + more.decompressed,
            nested: self.nested + more.nested,
        }
    }

    #[cfg(feature = "rayon")]
    pub(crate) fn minus(self, before: Self) -> Self {
        Self {
            decompressed: self.decompressed - before.decompressed,
            nested: self.nested - before.nested,
        }
    }

    /// Returns the memory in bytes for all blocks up to and including this frame.
    pub(crate) fn memory(&self, frame: &Frame<'_>) -> u64 {
        block_memory(frame.index).saturating_add(self.nested)
    }
}

/// Returns the memory in bytes for the blocks up to and including this one, without their contents.
pub(crate) fn block_memory(index: u64) -> u64 {
    index.saturating_add(1).saturating_mul(limits::BLOCK_MEMORY_BYTES)
}

/// Decodes a frame and adds its resources to `used`. `payload` is the size in bytes of the
/// decompressed payload up to the end of the frame.
pub(crate) fn decode<'a>(
    mut frame: Frame<'a>,
    limits: &Limits,
    store: Option<&dyn ContentStore>,
    payload: u64,
    used: &mut ResourceUse,
) -> Result<Block<'a>> {
    let offset = frame.body_offset;
    let (found, max) = (used.memory(&frame), limits.block_memory(frame.input_bytes));
    let Some(memory) = max.checked_sub(found) else {
        return Err(Error::new(fields::block_memory(found, max), frame.offset));
    };
    let mut left = Quota::new(limits.fields_max, memory, max);
    let block = if frame.is_reference() || frame.is_compressed() {
        let total_left =
            limits.total_decompressed_bytes_max.saturating_sub(payload + used.decompressed);
        let body = real_body(&frame, limits, store, total_left)?;
        used.decompressed += body.len() as u64;
        owned_block::decode_owned(body, |body| block(&frame, Reader::new(body, 0), &mut left))
            .map_err(|error| error.at_inner_offset(offset))?
    } else {
        match mem::take(&mut frame.body) {
            Cow::Borrowed(body) => block(&frame, Reader::new(body, offset), &mut left)?,
            Cow::Owned(body) => owned_block::decode_owned(body, |body| {
                block(&frame, Reader::new(body, offset), &mut left)
            })?,
        }
    };
    used.nested += memory - left.memory;
    Ok(block)
}

/// Resolves a reference or decompresses a zstd stream. The result has at most `left` bytes.
fn real_body(
    frame: &Frame<'_>,
    limits: &Limits,
    store: Option<&dyn ContentStore>,
    left: u64,
) -> Result<Vec<u8>> {
    let fail = |kind| Error::new(kind, frame.body_offset);
    let body_max = limits.body_decompressed_bytes_max;
    let (limit, max) = if left < body_max {
        ("TOTAL_DECOMPRESSED_BYTES_MAX", left)
    } else {
        ("BODY_DECOMPRESSED_BYTES_MAX", body_max)
    };
    let exceeded = |found| {
        // The error reports the configured limit, not the remainder.
        let used = if left < body_max { limits.total_decompressed_bytes_max - left } else { 0 };
        fail(ErrorKind::TooLarge { limit, found: found + used, max: max + used })
    };
    if !frame.is_reference() {
        return zstd_payload::decompress_body(&frame.body, max).map_err(|kind| match kind {
            ErrorKind::TooLarge { found, .. } => exceeded(found),
            other => fail(other),
        });
    }
    let hash: ContentHash = match <[u8; HASH_BYTES]>::try_from(&*frame.body) {
        Ok(hash) if !frame.is_compressed() => hash,
        _ => return Err(fail(ErrorKind::BadReference)),
    };
    let store = store.ok_or_else(|| fail(ErrorKind::NoStore { hash }))?;
    let body = store
        .get(&hash)
        .map_err(|error| fail(ErrorKind::Store { reason: error.to_string() }))?
        .ok_or_else(|| fail(ErrorKind::UnresolvedReference { hash }))?;
    let found = body.len() as u64;
    if found > max {
        return Err(exceeded(found));
    }
    if *blake3::hash(&body).as_bytes() != hash {
        return Err(fail(ErrorKind::HashMismatch { hash }));
    }
    Ok(body.into_owned())
}

fn block<'b>(frame: &Frame<'_>, mut body: Reader<'b>, left: &mut Quota) -> Result<Block<'b>> {
    let mut summary = None;
    if frame.flags & BLOCK_HAS_SUMMARY != 0 {
        let window = body.length_prefixed("summary")?;
        let max = limits::SUMMARY_BYTES_MAX;
        summary = Some(fields::text(window, "summary", "SUMMARY_BYTES_MAX", max)?);
    }
    let mut fields = Fields::new(body, frame.block_type.name(), left, 0);
    let content = match BlockContent::read(frame.block_type, &mut fields)? {
        Some(content) => content,
        None => BlockContent::Raw(RawBlock {
            type_id: frame.block_type.code(),
            body: body.rest().into(),
        }),
    };
    debug_assert_ne!(frame.block_type, BlockType::End, "END is an event, not a frame");
    Ok(Block { summary, content, reserved_flags: frame.flags & BLOCK_RESERVED })
}
