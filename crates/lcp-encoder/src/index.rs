//! Encoding of the index and its footer after END (RFC 0003 §1 to §4).

use lcp_types::wire::{END_FRAME, FOOTER_BYTES, FOOTER_MAGIC, INDEX_VERSION, TYPE_INDEX, WireType};
use lcp_types::{
    AlternateLevel, Block, BlockIndex, BlockIndexBuilder, BlockType, EncodingCosts, ModeCosts,
    limits,
};

use crate::error::{Error, Result};
use crate::fields::{length_prefixed, varint};

/// The maximum number of bytes in INDEX before its body: type, flags, length.
const FRAME_HEAD_BYTES_MAX: usize = 13;

/// The index of a pack, collected while frames are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexWriter {
    blocks: BlockIndexBuilder,
    flags: Vec<u8>,
    /// The encoded column of frame lengths.
    lengths: Vec<u8>,
    checksums: Vec<u8>,
}

impl IndexWriter {
    pub(crate) fn push(&mut self, frame: &[u8], block: std::result::Result<&Block<'_>, BlockType>) {
        match block {
            Ok(block) => self.blocks.push(block),
            Err(block_type) => self.blocks.push_unknown(block_type),
        }
        // The flags follow the type, which is a varint.
        let flags = frame.iter().skip_while(|byte| **byte >= 0x80).nth(1);
        self.flags.push(flags.copied().unwrap_or_default());
        varint(&mut self.lengths, frame.len() as u64);
        self.checksums.extend_from_slice(&crc32c::crc32c(frame).to_le_bytes());
    }

    /// Replaces the first block, by one with the same type and label.
    pub(crate) fn replace_first(&mut self, frame: &[u8], block: &Block<'_>) {
        self.blocks.set_first_summary(block.summary.as_deref());
        let mut first = Self::default();
        first.push(frame, Ok(block));
        self.flags.splice(..first.flags.len(), first.flags);
        let old = self.lengths.iter().position(|byte| *byte < 0x80).map_or(0, |last| last + 1);
        self.lengths.splice(..old, first.lengths);
        self.checksums.splice(..first.checksums.len(), first.checksums);
    }

    pub(crate) fn block_index(&self) -> BlockIndex {
        self.blocks.finish()
    }

    /// Encodes the body of the INDEX frame. Returns `None` if it is too large for a frame.
    pub(crate) fn body(&self, costs: &[EncodingCosts]) -> Result<Option<Vec<u8>>> {
        let index = self.block_index();
        check(costs, index.len())?;
        let mut body = Vec::new();
        column(&mut body, 1, &index.types);
        column(&mut body, 2, &self.flags);
        column(&mut body, 3, &self.lengths);
        column(&mut body, 4, &self.checksums);
        columns(&mut body, &index);
        for costs in costs {
            nested(&mut body, 17, &encoding(costs));
        }
        // Readers limit the size of the whole frame.
        let frame = |body: &Vec<u8>| (body.len() + FRAME_HEAD_BYTES_MAX) as u64;
        Ok(Some(body).filter(|body| frame(body) <= limits::BODY_BYTES_MAX))
    }
}

/// The size and the CRC-32C of the bytes of a pack that are not in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BytesBefore {
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

/// Appends INDEX and the footer to the rest of a pack, which ends with END. `before` are the bytes
/// before the rest.
pub(crate) fn append_index(pack: &mut Vec<u8>, before: BytesBefore, blocks: u64, body: &[u8]) {
    let index_at = pack.len();
    let blocks_checksum = crc32c::crc32c_append(before.checksum, pack);
    pack.reserve(body.len() + FOOTER_BYTES + 16);
    varint(pack, u64::from(TYPE_INDEX));
    pack.push(0);
    length_prefixed(pack, body);
    let index_checksum = crc32c::crc32c(pack.get(index_at..).unwrap_or_default());
    let mut footer = Vec::with_capacity(FOOTER_BYTES);
    let index_offset = before.bytes + index_at as u64;
    let end_offset = index_offset - END_FRAME.len() as u64;
    for offset in [end_offset, index_offset, (pack.len() - index_at) as u64] {
        footer.extend_from_slice(&offset.to_le_bytes());
    }
    footer.extend_from_slice(&blocks.to_le_bytes());
    for number in [blocks_checksum, index_checksum, INDEX_VERSION] {
        footer.extend_from_slice(&number.to_le_bytes());
    }
    let footer_check = crc32c::crc32c_append(crc32c::crc32c(&footer), &FOOTER_MAGIC);
    footer.extend_from_slice(&footer_check.to_le_bytes());
    footer.extend_from_slice(&FOOTER_MAGIC);
    pack.extend_from_slice(&footer);
}

/// Writes the columns that are derived from the blocks. Empty columns are omitted.
fn columns(body: &mut Vec<u8>, index: &BlockIndex) {
    let byte = |out: &mut Vec<u8>, byte: u8| out.push(byte);
    let number = |out: &mut Vec<u8>, number: u32| varint(out, u64::from(number));
    let none = |_: &mut Vec<u8>, (): ()| {};
    let unvalued = |of: &[u32]| of.iter().map(|&block| (block, ())).collect::<Vec<_>>();
    let priorities: Vec<_> = index.priorities.iter().map(|&(of, p)| (of, p.code())).collect();
    sparse(body, 5, &priorities, byte);
    sparse(body, 6, &unvalued(&index.metadata), none);
    sparse(body, 7, &unvalued(&index.pinned), none);
    sparse(body, 8, &index.ranks, |out, rank| out.extend_from_slice(&rank.to_le_bytes()));
    let mut names = Vec::new();
    index.category_names.iter().for_each(|name| length_prefixed(&mut names, name.as_bytes()));
    some(body, 9, &names);
    sparse(body, 10, &index.categories, number);
    let calls: Vec<_> = index.calls.iter().map(|call| (call.block, *call)).collect();
    sparse(body, 11, &calls, |out, call| {
        varint(out, u64::from(call.id) << 1 | u64::from(call.is_result));
    });
    if let Some(newest) = index.newest_user {
        column(body, 12, &dense(&[newest]));
    }
    sparse(body, 13, &index.summaries, number);
    let annotations: Vec<_> = index.annotations.iter().map(|&(of, by)| (of, (of, by))).collect();
    sparse(body, 14, &annotations, |out, (of, by)| {
        varint(out, zigzag(i64::from(by) - i64::from(of)));
    });
    some(body, 15, &dense(index.labels.codes()));
    some(body, 16, index.labels.text().as_bytes());
    sparse(body, 19, &unvalued(&index.passages), none);
}

fn encoding(costs: &EncodingCosts) -> Vec<u8> {
    let mut record = Vec::new();
    column(&mut record, 1, costs.encoding.as_bytes());
    varint(&mut record, 2);
    varint(&mut record, 0);
    varint(&mut record, u64::from(costs.revision));
    column(&mut record, 3, &dense(&costs.contents));
    column(&mut record, 4, &costs.joins);
    for mode in &costs.modes {
        nested(&mut record, 5, &self::mode(mode, &costs.contents));
    }
    record
}

fn mode(costs: &ModeCosts, contents: &[u32]) -> Vec<u8> {
    let mut record = Vec::new();
    column(&mut record, 1, costs.mode.as_bytes());
    let mut full = Vec::with_capacity(costs.full.len());
    for (&tokens, &content) in costs.full.iter().zip(contents) {
        varint(&mut full, zigzag(i64::from(tokens) - i64::from(content)));
    }
    column(&mut record, 2, &full);
    column(&mut record, 3, &dense(&costs.line));
    let levels: Vec<_> = costs.levels.chunk_by(|a, b| a.block == b.block).collect();
    let levels: Vec<_> = levels.iter().map(|of| (of[0].block, *of)).collect();
    sparse(&mut record, 4, &levels, |out, levels| {
        let of = |level: AlternateLevel| levels.iter().find(|cost| cost.level == level);
        let bits = AlternateLevel::ALL.into_iter().enumerate();
        out.push(bits.map(|(bit, level)| u8::from(of(level).is_some()) << bit).sum());
        for cost in AlternateLevel::ALL.into_iter().filter_map(of) {
            varint(out, u64::from(cost.tokens));
        }
    });
    record
}

/// Checks that readers accept the costs.
fn check(all: &[EncodingCosts], blocks: usize) -> Result<()> {
    for (at, costs) in all.iter().enumerate() {
        check_columns(costs, blocks)?;
        let unusable = |what| Err(Error::UnusableCosts { encoding: costs.encoding.clone(), what });
        let modes = &costs.modes;
        // This check comes before the searches for duplicates, which it keeps short.
        if at == limits::INDEX_ENCODINGS_MAX || modes.len() > limits::INDEX_MODES_MAX {
            return unusable("too many encodings or modes");
        }
        let is_same = |other: &EncodingCosts| {
            other.encoding == costs.encoding && other.revision == costs.revision
        };
        if all.iter().take(at).any(is_same) {
            return unusable("duplicate encoding");
        }
        let is_again = |(at, mode): (usize, &ModeCosts)| {
            modes.iter().take(at).any(|other| other.mode == mode.mode)
        };
        if modes.iter().enumerate().any(is_again) {
            return unusable("duplicate mode");
        }
        let ascend = |mode: &ModeCosts| {
            mode.levels.is_sorted_by(|a, b| (a.block, a.level) < (b.block, b.level))
        };
        if !modes.iter().all(ascend) {
            return unusable("levels are not in ascending order");
        }
    }
    Ok(())
}

/// Checks that the columns have as many blocks as the pack.
fn check_columns(costs: &EncodingCosts, blocks: usize) -> Result<()> {
    let modes = costs.modes.iter().flat_map(|mode| [mode.full.len(), mode.line.len()]);
    let mut columns = modes.chain([costs.contents.len()]);
    let wrong = columns.find(|found| *found != blocks);
    let wrong = wrong.or((costs.joins.len() != blocks.div_ceil(8)).then(|| costs.joins.len() * 8));
    let last = costs.modes.iter().filter_map(|mode| mode.levels.last());
    let beyond = last.map(|cost| cost.block as usize + 1).find(|found| *found > blocks);
    match wrong.or(beyond) {
        Some(found) => Err(Error::WrongCosts { encoding: costs.encoding.clone(), found, blocks }),
        None => Ok(()),
    }
}

/// Maps a signed number to an unsigned one, so that small numbers of both signs have short varints.
fn zigzag(number: i64) -> u64 {
    (number.cast_unsigned() << 1) ^ (number >> 63).cast_unsigned()
}

/// Writes pairs of a block and a value, which are in ascending block order.
fn sparse<T: Copy>(
    body: &mut Vec<u8>,
    id: u64,
    pairs: &[(u32, T)],
    mut value: impl FnMut(&mut Vec<u8>, T),
) {
    let (mut bytes, mut before) = (Vec::with_capacity(pairs.len() * 2), 0);
    for &(block, of) in pairs {
        varint(&mut bytes, u64::from(block - before));
        before = block;
        value(&mut bytes, of);
    }
    some(body, id, &bytes);
}

/// Encodes one number for each block.
fn dense(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len());
    for &number in numbers {
        varint(&mut bytes, u64::from(number));
    }
    bytes
}

/// Writes a column if it is not empty.
fn some(body: &mut Vec<u8>, id: u64, bytes: &[u8]) {
    if !bytes.is_empty() {
        column(body, id, bytes);
    }
}

fn column(body: &mut Vec<u8>, id: u64, bytes: &[u8]) {
    field(body, id, WireType::Bytes, bytes);
}

fn nested(body: &mut Vec<u8>, id: u64, record: &[u8]) {
    field(body, id, WireType::Nested, record);
}

fn field(body: &mut Vec<u8>, id: u64, wire_type: WireType, bytes: &[u8]) {
    varint(body, id);
    body.push(wire_type as u8);
    length_prefixed(body, bytes);
}
