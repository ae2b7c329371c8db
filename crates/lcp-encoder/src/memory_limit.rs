//! An estimate of the memory that a reader needs for the blocks of a pack in addition to their
//! contents. With it, the encoder does not write packs that exceed the limit of readers (RFC 0008
//! §5).
//!
//! Uncompressed data adds more to the limit than it uses, so only compressed blocks and references
//! can exceed the limit.

use std::convert::Infallible;

use lcp_types::codec::{FieldSpec, FieldWriter, Record};
use lcp_types::{Block, UnknownField, limits};

/// The memory that a reader needs for the blocks so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct DecodeMemoryEstimate {
    blocks: u64,
    /// The memory in bytes for nested records and unknown fields.
    nested: u64,
    /// The minimum, over the blocks so far, of the memory that was left.
    left_min: Option<u64>,
    /// The end of each frame, and the memory for nested records up to it. It is recorded only for a
    /// compressed payload.
    ends: Option<Vec<(u64, u64)>>,
}

impl DecodeMemoryEstimate {
    /// Creates an empty estimate. `keeps_ends` must be `true` if [`Self::payload_fits`] will be
    /// called.
    pub(crate) fn new(keeps_ends: bool) -> Self {
        Self { ends: keeps_ends.then(Vec::new), ..Self::default() }
    }

    /// Returns the memory in bytes after one more block, which ends at `end`, and the limit at that
    /// offset.
    pub(crate) fn estimate_with(&self, nested: u64, end: u64) -> (u64, u64) {
        (block_bytes(self.blocks + 1, self.nested + nested), allowed(end))
    }

    /// Counts a block that was written.
    pub(crate) fn push(&mut self, nested: u64, end: u64) {
        let (found, max) = self.estimate_with(nested, end);
        let left = max.saturating_sub(found);
        self.left_min = Some(self.left_min.map_or(left, |least| least.min(left)));
        self.blocks += 1;
        self.nested += nested;
        if let Some(ends) = &mut self.ends {
            ends.push((end, self.nested));
        }
    }

    /// Replaces the first block. `old` and `new` are its memory for nested records and the size of
    /// its frame. Returns `false` and changes nothing if readers would reject a block then.
    pub(crate) fn replace_first(&mut self, old: (u64, u64), new: (u64, u64)) -> bool {
        if let Some(ends) = &mut self.ends {
            for (end, nested) in ends {
                (*end, *nested) = (*end - old.1 + new.1, *nested - old.0 + new.0);
            }
        } else {
            // Memory that was left before, and is used or no longer allowed now.
            let before = old.0.saturating_add(new.1.saturating_mul(limits::BLOCK_MEMORY_PER_BYTE));
            let after = new.0.saturating_add(old.1.saturating_mul(limits::BLOCK_MEMORY_PER_BYTE));
            if after.saturating_sub(before) > self.left_min.unwrap_or_default() {
                return false;
            }
            self.left_min = self.left_min.map(|left| left - after.saturating_sub(before));
        }
        self.nested = self.nested - old.0 + new.0;
        true
    }

    /// Returns whether readers accept the compressed payload. `progress` returns the numbers of
    /// bytes read and decompressed after each window.
    pub(crate) fn payload_fits<E>(
        &self,
        progress: impl FnOnce() -> Result<Vec<(u64, u64)>, E>,
    ) -> Result<bool, E> {
        let ends = self.ends.as_deref().unwrap_or_default();
        if block_bytes(self.blocks, self.nested) <= limits::BLOCK_MEMORY_BYTES_MAX {
            return Ok(true);
        }
        Ok(progress()?.into_iter().all(|(input_bytes, decompressed)| {
            let blocks = ends.partition_point(|(end, _)| *end <= decompressed);
            let nested = blocks.checked_sub(1).and_then(|last| ends.get(last));
            block_bytes(blocks as u64, nested.map_or(0, |(_, nested)| *nested))
                <= allowed(input_bytes)
        }))
    }
}

/// Returns the memory in bytes that a reader needs for the nested records and unknown fields of a
/// block.
pub(crate) fn nested_bytes(block: &Block<'_>) -> u64 {
    let mut nested = NestedBytes(0);
    let Ok(_) = block.content.write(&mut nested);
    nested.0
}

/// A writer that counts the memory for nested records and unknown fields, in bytes.
struct NestedBytes(u64);

impl FieldWriter for NestedBytes {
    type Error = Infallible;

    #[inline]
    fn begin(
        &mut self,
        _: &'static str,
        _: &'static [FieldSpec],
        unknown: &[UnknownField<'_>],
    ) -> Result<(), Infallible> {
        self.0 += unknown.len() as u64 * limits::UNKNOWN_FIELD_MEMORY_BYTES;
        Ok(())
    }

    fn records<'a, T: Record<'a>>(&mut self, _: &FieldSpec, value: &[T]) -> Result<(), Infallible> {
        for record in value {
            self.0 += limits::RECORD_MEMORY_BYTES;
            record.write(self)?;
        }
        Ok(())
    }
}

fn block_bytes(blocks: u64, nested: u64) -> u64 {
    blocks * limits::BLOCK_MEMORY_BYTES + nested
}

fn allowed(input_bytes: u64) -> u64 {
    let (max, per_byte) = (limits::BLOCK_MEMORY_BYTES_MAX, limits::BLOCK_MEMORY_PER_BYTE);
    limits::block_memory(max, per_byte, input_bytes)
}
