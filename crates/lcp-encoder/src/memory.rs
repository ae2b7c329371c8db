//! What the blocks of a pack take of a reader's memory beside their contents: no more than
//! a reader allows (RFC 0008 §5).
//!
//! What is written as it is allows more than it takes, so only what is compressed or a
//! reference can go beyond the bound.

use std::convert::Infallible;

use lcp_types::schema::{FieldSpec, FieldWriter, Record};
use lcp_types::{Block, Bytes, UnknownField, limits};

/// What the blocks so far take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    blocks: u64,
    /// Bytes of their nested records and unknown fields.
    nested: u64,
    /// Where each frame ends, and the nested bytes up to there: kept where all of them are
    /// compressed as one.
    ends: Option<Vec<(u64, u64)>>,
}

impl Memory {
    /// Nothing so far; `keeps_ends` for [`Self::payload_fits`].
    pub(crate) fn new(keeps_ends: bool) -> Self {
        Self { ends: keeps_ends.then(Vec::new), ..Self::default() }
    }

    /// What the blocks take with one more that has so many nested bytes, and what they may
    /// where it ends.
    pub(crate) fn with(&self, nested: u64, end: usize) -> (u64, u64) {
        (of(self.blocks + 1, self.nested + nested), allowed(end as u64))
    }

    /// Counts a block that was written.
    pub(crate) fn push(&mut self, nested: u64, end: usize) {
        self.blocks += 1;
        self.nested += nested;
        if let Some(ends) = &mut self.ends {
            ends.push((end as u64, self.nested));
        }
    }

    /// Whether a reader takes the payload: `given` says how many bytes of it are there after so
    /// many bytes of the pack, window by window. Asked only where it is in doubt.
    pub(crate) fn payload_fits<E>(
        &self,
        given: impl FnOnce() -> Result<Vec<(u64, u64)>, E>,
    ) -> Result<bool, E> {
        let ends = self.ends.as_deref().unwrap_or_default();
        if of(self.blocks, self.nested) <= limits::BLOCK_MEMORY_BYTES_MAX {
            return Ok(true);
        }
        Ok(given()?.into_iter().all(|(input_bytes, given)| {
            let blocks = ends.partition_point(|(end, _)| *end <= given);
            let nested = blocks.checked_sub(1).and_then(|last| ends.get(last));
            of(blocks as u64, nested.map_or(0, |(_, nested)| *nested)) <= allowed(input_bytes)
        }))
    }
}

/// Bytes of memory that a reader needs for the nested records and unknown fields of a block.
pub(crate) fn nested(block: &Block<'_>) -> u64 {
    let mut nested = Nested(0);
    let Ok(_) = block.content.write(&mut nested);
    nested.0
}

/// Counts what is nested; nothing is written.
struct Nested(u64);

impl FieldWriter for Nested {
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

    #[inline]
    fn uint(&mut self, _: u64, _: &'static str, _: u64) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn code(
        &mut self,
        _: u64,
        _: &'static str,
        _: u8,
        _: Option<&'static str>,
    ) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn text(&mut self, _: u64, _: &'static str, _: &str) -> Result<(), Infallible> {
        Ok(())
    }

    #[inline]
    fn bytes(&mut self, _: u64, _: &'static str, _: &Bytes<'_>) -> Result<(), Infallible> {
        Ok(())
    }

    fn records<'a, T: Record<'a>>(
        &mut self,
        _: u64,
        _: &'static str,
        value: &[T],
    ) -> Result<(), Infallible> {
        for record in value {
            self.0 += limits::RECORD_MEMORY_BYTES;
            record.write(self)?;
        }
        Ok(())
    }

    #[inline]
    fn unknown(&mut self, _: &[UnknownField<'_>], _: Option<u64>) -> Result<(), Infallible> {
        Ok(())
    }
}

fn of(blocks: u64, nested: u64) -> u64 {
    blocks * limits::BLOCK_MEMORY_BYTES + nested
}

fn allowed(input_bytes: u64) -> u64 {
    let (max, per_byte) = (limits::BLOCK_MEMORY_BYTES_MAX, limits::BLOCK_MEMORY_PER_BYTE);
    limits::block_memory(max, per_byte, input_bytes)
}
