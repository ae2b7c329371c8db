//! Decoding of the columns of an index (RFC 0003 §3, §4).

use lcp_types::{
    AlternateCost, AlternateLevel, BlockIndex, EncodingCosts, LabelColumn, ModeCosts, Priority,
    ToolCallEntry, limits,
};

use lcp_types::wire::{TYPE_END, WireType};

use super::error::{IndexError, IndexErrorKind};
use super::{BlockTable, FrameTable, Result};
use crate::reader::{FRAME_BYTES_MIN, Reader};
use crate::varint::decode_u32;

/// Reads the columns of an index of `blocks` blocks. Unknown columns are skipped.
pub(super) fn read(body: Reader<'_>, blocks: u64) -> Result<BlockTable> {
    let mut record = Column { rest: body, blocks: 0, name: "index" };
    record.blocks = usize::try_from(blocks).map_err(|_| record.fail("index"))?;
    let (mut frames, mut index) = (FrameTable::default(), BlockIndex::default());
    let (mut codes, mut text) = (None, String::new());
    let mut has = [false; 3];
    while let Some((id, mut column)) = record.next(&NAMES, &[17])? {
        match id {
            1 => index.types = column.bytes_of_blocks()?.to_vec(),
            2 => frames.flags = column.bytes_of_blocks()?.to_vec(),
            3 => {
                frames.lengths = column.dense()?;
                let is_frame =
                    |len: &u32| matches!(u64::from(*len), FRAME_BYTES_MIN..=FRAME_BYTES_MAX);
                if !frames.lengths.iter().all(is_frame) {
                    return Err(column.wrong());
                }
            }
            4 => frames.checksums = Some(column.checksums()?),
            5 => index.priorities = column.sparse(Column::priority)?,
            6 => index.metadata = column.unvalued()?,
            7 => index.pinned = column.unvalued()?,
            8 => index.ranks = column.sparse(Column::rank)?,
            9 => index.category_names = column.texts()?,
            10 => index.categories = column.sparse(Column::number)?,
            11 => {
                let calls = column.sparse(Column::number)?;
                let call =
                    |(block, of)| ToolCallEntry { block, id: of >> 1, is_result: of & 1 == 1 };
                index.calls = calls.into_iter().map(call).collect();
            }
            12 => {
                let newest = column.number()?;
                if newest as usize >= column.blocks || !column.rest.is_empty() {
                    return Err(column.wrong());
                }
                index.newest_user = Some(newest);
            }
            13 => index.summaries = column.sparse(Column::number)?,
            14 => index.annotations = column.annotations()?,
            15 => codes = Some(column.dense()?),
            16 => text = column.text()?,
            17 => {
                // The limit keeps the search for duplicates below cheap.
                if index.costs.len() == limits::INDEX_ENCODINGS_MAX {
                    return Err(column.wrong());
                }
                let costs = costs(column)?;
                if index.costs_in(&costs.encoding, costs.revision).is_some() {
                    return Err(column.wrong());
                }
                index.costs.push(costs);
            }
            19 => index.passages = column.unvalued()?,
            // Column 18 has hashes, which are not used yet.
            _ => {}
        }
        if let Some(has) = usize::try_from(id).ok().and_then(|id| has.get_mut(id.wrapping_sub(1))) {
            *has = true;
        }
    }
    if let Some(missing) = has.iter().position(|has| !has) {
        return Err(record.fail(NAMES.get(missing).map_or("index", |(_, name)| name)));
    }
    let codes = codes.unwrap_or_else(|| vec![0; record.blocks]);
    index.labels = LabelColumn::from_parts(codes, text).ok_or_else(|| record.fail("labels"))?;
    let names = index.category_names.len();
    if index.categories.iter().any(|(_, name)| *name as usize >= names) {
        return Err(record.fail("categories"));
    }
    if index.types.contains(&TYPE_END) {
        return Err(record.fail("types"));
    }
    Ok(BlockTable { frames, blocks: index })
}

/// The maximum size of a frame in bytes: type, flags, length and body.
const FRAME_BYTES_MAX: u64 = limits::BODY_BYTES_MAX + 21;

/// The ids and names of the columns. All have wire type BYTES, except those passed as nested.
#[rustfmt::skip]
const NAMES: [(u64, &str); 18] = [
    (1, "types"), (2, "flags"), (3, "lengths"), (4, "checks"), (5, "priorities"), (6, "metadata"),
    (7, "pinned"), (8, "ranks"), (9, "category_names"), (10, "categories"), (11, "calls"),
    (12, "newest_user"), (13, "summaries"), (14, "said"), (15, "labels"), (16, "label_text"),
    (17, "costs"), (19, "passages"),
];

const COSTS: [(u64, &str); 5] =
    [(1, "encoding"), (2, "revision"), (3, "contents"), (4, "joins"), (5, "modes")];

const MODES: [(u64, &str); 4] = [(1, "mode"), (2, "full"), (3, "line"), (4, "levels")];

fn costs(mut record: Column<'_>) -> Result<EncodingCosts> {
    let mut costs = EncodingCosts::default();
    let mut modes = Vec::new();
    let mut has = false;
    while let Some((id, mut column)) = record.next(&COSTS, &[5])? {
        match id {
            1 => costs.encoding = column.text()?,
            2 => costs.revision = column.number()?,
            3 => {
                costs.contents = column.dense()?;
                has = true;
            }
            4 => costs.joins = column.rest.rest().to_vec(),
            5 if modes.len() == limits::INDEX_MODES_MAX => return Err(column.wrong()),
            5 => modes.push(column),
            _ => {}
        }
    }
    if !has || costs.joins.len() != record.blocks.div_ceil(8) {
        return Err(record.fail("costs"));
    }
    for column in modes {
        let mode = mode(column, &costs.contents)?;
        if costs.mode(&mode.mode).is_some() {
            return Err(column.wrong());
        }
        costs.modes.push(mode);
    }
    Ok(costs)
}

fn mode(mut record: Column<'_>, contents: &[u32]) -> Result<ModeCosts> {
    let mut costs = ModeCosts::default();
    while let Some((id, mut column)) = record.next(&MODES, &[])? {
        match id {
            1 => costs.mode = column.text()?,
            2 => {
                costs.full = column.dense()?;
                for (full, &content) in costs.full.iter_mut().zip(contents) {
                    let sum = i64::from(content) + zigzag(u64::from(*full));
                    *full = u32::try_from(sum).map_err(|_| column.wrong())?;
                }
            }
            3 => costs.line = column.dense()?,
            4 => costs.levels = column.levels()?,
            _ => {}
        }
    }
    if costs.full.len() != record.blocks || costs.line.len() != record.blocks {
        return Err(record.fail("modes"));
    }
    Ok(costs)
}

fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// A column or a record of columns, read from front to back.
#[derive(Clone, Copy)]
struct Column<'a> {
    rest: Reader<'a>,
    blocks: usize,
    name: &'static str,
}

impl<'a> Column<'a> {
    fn wrong(&self) -> IndexError {
        self.fail(self.name)
    }

    fn fail(&self, column: &'static str) -> IndexError {
        IndexError::new(IndexErrorKind::Column { column }, self.rest.offset())
    }

    /// Reads the next field. A field whose id is not in `names` may have any wire type.
    fn next(
        &mut self,
        names: &[(u64, &'static str)],
        nested: &[u64],
    ) -> Result<Option<(u64, Self)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let fail = self.wrong();
        let field = |rest: &mut Reader<'a>| {
            let id = rest.varint(self.name).ok()?;
            let wire_type = WireType::from_code(rest.varint(self.name).ok()?)?;
            let known = names.iter().find(|(known, _)| *known == id).map(|(_, name)| *name);
            let is_number = known == Some("revision");
            let wanted = match known {
                Some(_) if is_number => WireType::Varint,
                Some(_) if nested.contains(&id) => WireType::Nested,
                _ => WireType::Bytes,
            };
            if known.is_some() && wanted != wire_type {
                return None;
            }
            let payload = match wire_type {
                WireType::Varint => {
                    let mut payload = *rest;
                    rest.varint(self.name).ok()?;
                    payload.shorten(payload.remaining() - rest.remaining());
                    payload
                }
                WireType::Bytes | WireType::Nested => rest.length_prefixed(self.name).ok()?,
            };
            Some((id, payload, known.unwrap_or("unknown")))
        };
        let (id, payload, name) = field(&mut self.rest).ok_or(fail)?;
        Ok(Some((id, Self { rest: payload, blocks: self.blocks, name })))
    }

    fn number(&mut self) -> Result<u32> {
        let number = self.rest.varint(self.name).map_err(|_| self.wrong())?;
        u32::try_from(number).map_err(|_| self.wrong())
    }

    fn byte(&mut self) -> Result<u8> {
        self.rest.byte(self.name).map_err(|_| self.wrong())
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8]> {
        self.rest.bytes(len, self.name).map_err(|_| self.wrong())
    }

    fn text(&mut self) -> Result<String> {
        let text = std::str::from_utf8(self.rest.rest()).map_err(|_| self.wrong())?;
        Ok(text.to_owned())
    }

    /// Reads one byte for each block.
    fn bytes_of_blocks(&mut self) -> Result<&'a [u8]> {
        let bytes = self.rest.rest();
        if bytes.len() == self.blocks { Ok(bytes) } else { Err(self.wrong()) }
    }

    /// Reads one number for each block.
    fn dense(&mut self) -> Result<Vec<u32>> {
        // A number takes at least one byte, so this never reserves more numbers than the input has
        // bytes.
        if self.rest.remaining() < self.blocks {
            return Err(self.wrong());
        }
        let mut numbers = Vec::with_capacity(self.blocks);
        let mut bytes = self.rest.rest();
        while numbers.len() < self.blocks {
            // Most numbers are below 128.
            if let Some((eight, behind)) = bytes.split_first_chunk::<8>()
                && eight.is_ascii()
                && self.blocks - numbers.len() >= eight.len()
            {
                numbers.extend(eight.iter().copied().map(u32::from));
                bytes = behind;
                continue;
            }
            let (number, behind) = decode_u32(bytes).ok_or_else(|| self.wrong())?;
            numbers.push(number);
            bytes = behind;
        }
        if bytes.is_empty() { Ok(numbers) } else { Err(self.wrong()) }
    }

    fn checksums(&mut self) -> Result<Vec<u32>> {
        let (checks, rest) = self.rest.rest().as_chunks::<4>();
        if checks.len() != self.blocks || !rest.is_empty() {
            return Err(self.wrong());
        }
        Ok(checks.iter().map(|check| u32::from_le_bytes(*check)).collect())
    }

    /// Reads pairs of a block and a value, in ascending block order.
    fn sparse<T>(&mut self, value: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<(u32, T)>> {
        let (mut pairs, mut before) = (Vec::new(), None);
        while !self.rest.is_empty() {
            let step = self.number()?;
            let block = before.unwrap_or(0u32).checked_add(step);
            let block = block.filter(|block| (*block as usize) < self.blocks);
            let block =
                block.filter(|_| step > 0 || before.is_none()).ok_or_else(|| self.wrong())?;
            before = Some(block);
            pairs.push((block, value(self)?));
        }
        Ok(pairs)
    }

    fn unvalued(&mut self) -> Result<Vec<u32>> {
        let pairs = self.sparse(|_| Ok(()))?;
        Ok(pairs.into_iter().map(|(block, ())| block).collect())
    }

    fn priority(&mut self) -> Result<Priority> {
        Priority::from_code(self.byte()?).ok_or_else(|| self.wrong())
    }

    fn rank(&mut self) -> Result<f64> {
        let bytes = self.bytes(8)?.first_chunk().copied().unwrap_or_default();
        let rank = f64::from_le_bytes(bytes);
        if rank.is_finite() { Ok(rank) } else { Err(self.wrong()) }
    }

    fn texts(&mut self) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        while !self.rest.is_empty() {
            // Each name belongs to at least one block.
            if texts.len() == self.blocks {
                return Err(self.wrong());
            }
            let rest = self.rest.length_prefixed(self.name).map_err(|_| self.wrong())?;
            texts.push(Self { rest, blocks: self.blocks, name: self.name }.text()?);
        }
        Ok(texts)
    }

    /// Reads pairs of a block and an annotation of that block. A block may have several.
    fn annotations(&mut self) -> Result<Vec<(u32, u32)>> {
        let (mut pairs, mut of) = (Vec::new(), 0u32);
        while !self.rest.is_empty() {
            let step = self.number()?;
            let distance = zigzag(self.rest.varint(self.name).map_err(|_| self.wrong())?);
            let target = of.checked_add(step).filter(|of| (*of as usize) < self.blocks);
            of = target.ok_or_else(|| self.wrong())?;
            let by = i64::from(of).checked_add(distance).and_then(|by| u32::try_from(by).ok());
            let by = by.filter(|by| (*by as usize) < self.blocks).ok_or_else(|| self.wrong())?;
            if pairs.last().is_some_and(|last| *last >= (of, by)) {
                return Err(self.wrong());
            }
            pairs.push((of, by));
        }
        Ok(pairs)
    }

    fn levels(&mut self) -> Result<Vec<AlternateCost>> {
        let mut costs = Vec::new();
        let blocks = self.sparse(|column| {
            let bits = column.byte()?;
            if bits == 0 || bits >> AlternateLevel::ALL.len() != 0 {
                return Err(column.wrong());
            }
            let mut tokens = [None; AlternateLevel::ALL.len()];
            for (bit, tokens) in tokens.iter_mut().enumerate() {
                if bits >> bit & 1 == 1 {
                    *tokens = Some(column.number()?);
                }
            }
            Ok(tokens)
        })?;
        for (block, tokens) in blocks {
            for (level, tokens) in AlternateLevel::ALL.into_iter().zip(tokens) {
                costs.extend(tokens.map(|tokens| AlternateCost { block, level, tokens }));
            }
        }
        Ok(costs)
    }
}
