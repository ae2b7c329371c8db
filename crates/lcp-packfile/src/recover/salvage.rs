//! Search for the undamaged frames of a damaged pack.

use std::borrow::Cow;
use std::ops::Range;

use lcp_decoder::{DecodeOptions, Event, EventIter, Frame, IndexFooter, PackIndex};
use lcp_types::wire::{
    END_FRAME, FOOTER_BYTES, HEADER_BYTES, HEADER_INDEX, MAGIC_LCP, VERSION_MAJOR, VERSION_MINOR,
};

use super::{LostRange, message};
use crate::error::Error;
use crate::scan::{PackScan, slice};

/// The header of a pack with an index.
const HEADER: [u8; HEADER_BYTES] = {
    let [a, b, c, d] = MAGIC_LCP;
    [a, b, c, d, VERSION_MAJOR, VERSION_MINOR, HEADER_INDEX, 0]
};

/// The frames that were found, as a pack, and the ranges that were lost.
pub(super) struct Salvage<'a> {
    /// A header and frames. Bytes after the frames are ignored.
    pub(super) frames: Cow<'a, [u8]>,
    /// The original index and byte range of each frame, if they differ from those in `frames`.
    pub(super) before: Option<Vec<(u64, Range<u64>)>>,
    /// The original number of blocks, if it is known.
    pub(super) total: Option<u64>,
    /// `true` if the pack had an index.
    pub(super) has_index: bool,
    pub(super) lost: Vec<LostRange>,
}

impl<'a> Salvage<'a> {
    pub(super) fn new(pack: &'a [u8]) -> Result<Self, Error> {
        match PackEnd::read(pack) {
            Some(ends) if ends.footer.pack_bytes() == pack.len() as u64 => Ok(ends.salvage(pack)),
            Some(PackEnd { footer, index: Some(index) }) if !is_behind_another(pack, &footer) => {
                Ok(salvage_shifted(pack, &footer, &index))
            }
            _ => Self::in_order(pack),
        }
    }

    /// Reads consecutive frames from the start of the pack. This is the only way if no index gives
    /// their positions.
    fn in_order(pack: &'a [u8]) -> Result<Self, Error> {
        let scan = PackScan::new(pack).require_header()?;
        let mut found = Self {
            frames: Cow::Borrowed(pack),
            before: None,
            total: scan.end.map(|_| scan.frames.len() as u64),
            has_index: scan.has_index(),
            lost: Vec::new(),
        };
        let size = pack.len() as u64;
        if let Some(error) = &scan.error {
            let reached = if scan.is_payload_compressed() {
                error.offset().min(size)
            } else {
                scan.frames_end()
            };
            let block = Some(scan.frames.len() as u64);
            found.lost.push(LostRange { bytes: reached..size, block, reason: message(error) });
        } else if let Some(end) = scan.end.map(|end| end + END_FRAME.len() as u64)
            && end < size
            && !scan.is_payload_compressed()
        {
            let why = match PackIndex::find(pack) {
                Some(Err(error)) => format!("rebuilt the index: {error}"),
                _ => "unannounced bytes after END".to_owned(),
            };
            found.lost.push(LostRange { bytes: end..size, block: None, reason: why });
        } else if let Some(Err(error)) = PackIndex::find(pack) {
            let why = format!("rebuilt the index: {error}");
            found.lost.push(LostRange { bytes: size..size, block: None, reason: why });
        } else if let Some(warning) = scan.warnings.first() {
            let why = warning.to_string();
            found.lost.push(LostRange { bytes: size..size, block: None, reason: why });
        }
        Ok(found)
    }
}

/// The end of a pack: its footer, and its index if that is undamaged.
struct PackEnd {
    footer: IndexFooter,
    /// The index, if its checksum is correct.
    index: Option<PackIndex>,
}

impl PackEnd {
    fn read(pack: &[u8]) -> Option<Self> {
        let tail = pack.len().checked_sub(FOOTER_BYTES)?;
        let footer = IndexFooter::parse_at_unknown_offset(pack.get(tail..)?).ok()?;
        // Only an END of the usual length is supported.
        let end_bytes = END_FRAME.len() as u64;
        (footer.index_offset.checked_sub(footer.end_offset)? == end_bytes).then_some(())?;
        let len = usize::try_from(footer.index_len).ok()?;
        let index = pack.get(tail.checked_sub(len)?..tail)?;
        let index = PackIndex::parse(footer, &[&END_FRAME, index].concat()).ok();
        Some(Self { footer, index })
    }

    /// Returns the frames of a pack whose size matches its footer. Header and END may be damaged.
    fn salvage(self, pack: &[u8]) -> Salvage<'_> {
        let IndexFooter { end_offset, index_offset, blocks, blocks_checksum, .. } = self.footer;
        let end = usize::try_from(end_offset).unwrap_or(usize::MAX).min(pack.len());
        let (head, between) = (&pack[..HEADER_BYTES], &pack[HEADER_BYTES..end]);
        let with = |header: &[u8]| [header, between, &END_FRAME].concat();
        let is_sound = |header: &&[u8]| crc32c::crc32c(&with(header)) == blocks_checksum;
        let sound = [head, &HEADER].into_iter().find(is_sound);
        let announces = head.starts_with(&MAGIC_LCP) && PackScan::new(head).header.is_some();
        let header = sound.unwrap_or(if announces { head } else { &HEADER });
        let mut lost = Vec::new();
        let rebuilt = |bytes, part: &str| {
            let why = format!("rebuilt the {part}");
            LostRange { bytes, block: None, reason: why }
        };
        if header != head {
            lost.push(rebuilt(0..HEADER_BYTES as u64, "damaged header"));
        }
        if pack.get(end..).is_none_or(|rest| !rest.starts_with(&END_FRAME)) {
            lost.push(rebuilt(end_offset..index_offset, "damaged END"));
        }
        if self.index.is_none() {
            let index_end = pack.len() - FOOTER_BYTES;
            lost.push(rebuilt(index_offset..index_end as u64, "damaged index"));
        } else if sound.is_some() && lost.is_empty() {
            // All bytes are as they were written, so the index itself contradicts the blocks.
            let part = "index, which did not match the blocks";
            lost.push(rebuilt(index_offset..pack.len() as u64, part));
        }
        let (total, has_index) = (Some(blocks), true);
        let by_index = self.index.filter(|_| sound.is_none());
        let Some(index) = by_index else {
            let frames = with(header);
            // Without an index, frames after a damaged one cannot be found.
            let broken = PackScan::new(&frames).require_header().ok();
            let broken = broken.map(|scan| (scan.frames_end(), scan.frames.len(), scan.error));
            if let Some((reached, block, Some(error))) = broken {
                let (bytes, block) = (reached..end_offset, Some(block as u64));
                lost.push(LostRange { bytes, block, reason: message(&error) });
            } else if sound.is_none() {
                let why =
                    "the checksum of the blocks does not match, and the damaged block is unknown";
                let bytes = end_offset..end_offset;
                lost.push(LostRange { bytes, block: None, reason: why.to_owned() });
            }
            let frames = Cow::Owned(frames);
            return Salvage { frames, before: None, total, has_index, lost };
        };
        let (mut kept, mut before) = (header.to_vec(), Vec::new());
        for block in 0..u32::try_from(blocks).unwrap_or(u32::MAX) {
            let Some(place) = index.frame(block) else { break };
            let bytes = slice(pack, &place).unwrap_or_default();
            match damage(&index, block, bytes) {
                None => {
                    kept.extend_from_slice(bytes);
                    before.push((u64::from(block), place));
                }
                Some(why) => {
                    lost.push(LostRange {
                        bytes: place,
                        block: Some(u64::from(block)),
                        reason: why,
                    });
                }
            }
        }
        if lost.is_empty() {
            // Every other part has a valid checksum.
            lost.push(rebuilt(0..HEADER_BYTES as u64, "damaged header"));
        }
        kept.extend_from_slice(&END_FRAME);
        let frames = Cow::Owned(kept);
        Salvage { frames, before: Some(before), total, has_index, lost }
    }
}

/// Returns the shifted range of bytes that follow missing or additional bytes. The shift is the
/// difference between the actual size of the pack and the size in its footer.
fn shifted_range(pack: &[u8], footer: &IndexFooter, place: &Range<u64>) -> Option<Range<u64>> {
    let to = |at: u64| at.checked_add(pack.len() as u64)?.checked_sub(footer.pack_bytes());
    Some(to(place.start)?..to(place.end)?)
}

/// Returns whether the footer belongs to a complete second pack after the first one. Readers see
/// only the first pack.
fn is_behind_another(pack: &[u8], footer: &IndexFooter) -> bool {
    let header = shifted_range(pack, footer, &(0..HEADER_BYTES as u64));
    let header = header.filter(|header| header.start > 0).and_then(|header| slice(pack, &header));
    PackScan::new(pack).header.is_some()
        && header.is_some_and(|header| header.starts_with(&MAGIC_LCP))
}

/// Returns the frames of a pack whose size differs from that in its footer, because bytes are
/// missing or were added. Frames before the change are at their original positions, and frames
/// after it are shifted by the difference.
fn salvage_shifted<'a>(pack: &'a [u8], footer: &IndexFooter, index: &PackIndex) -> Salvage<'a> {
    let size = pack.len() as u64;
    let head = pack.get(..HEADER_BYTES).unwrap_or_default();
    let has_header = head.starts_with(&MAGIC_LCP)
        && PackScan::new(head).header.is_some_and(|header| !header.is_payload_compressed());
    let (header, start) = if has_header { (head, head.len() as u64) } else { (&HEADER[..], 0) };
    let index_start = size.saturating_sub(footer.index_len + FOOTER_BYTES as u64);
    let end = index_start.saturating_sub(END_FRAME.len() as u64)..index_start;
    let has_end = slice(pack, &end) == Some(&END_FRAME);
    let blocks = u32::try_from(footer.blocks).unwrap_or(u32::MAX);
    // The search begins at the end, because a frame that lost bytes would extend into the next
    // frame.
    let mut found: Vec<(u32, Range<u64>)> = Vec::new();
    let mut limit = if has_end { end.start } else { end.end };
    let mut is_behind_shifted = false;
    for block in (0..blocks).rev() {
        let Some(place) = index.frame(block) else { continue };
        let is_whole = |place: &Range<u64>| {
            let bytes = slice(pack, place).filter(|_| place.start >= start && place.end <= limit);
            bytes.is_some_and(|bytes| damage(index, block, bytes).is_none())
        };
        let there = shifted_range(pack, footer, &place).filter(&is_whole);
        let is_shifted = there.is_some();
        // Without a checksum it is unknown whether additional bytes are in this frame or after it.
        let is_sure = |place: &Range<u64>| {
            index.checksum(block).is_some() || !is_behind_shifted || place.end == limit
        };
        let there = there.or_else(|| Some(place).filter(&is_whole).filter(is_sure));
        is_behind_shifted = is_shifted;
        if let Some(place) = there {
            limit = place.start;
            found.push((block, place));
        }
    }
    found.reverse();
    let what = match size.checked_sub(footer.pack_bytes()) {
        Some(more) => format!("the pack is {more} bytes longer than its footer says"),
        None => {
            format!("the pack is {} bytes shorter than its footer says", footer.pack_bytes() - size)
        }
    };
    let mut lost = Vec::new();
    let mut between = |bytes: Range<u64>, missing: Range<u32>| {
        for block in missing.clone() {
            // The bytes cannot be assigned to one of the missing blocks, so the first one gets the
            // whole range.
            let bytes = if block == missing.start { bytes.clone() } else { bytes.end..bytes.end };
            let (block, why) = (Some(block.into()), format!("the block is damaged: {what}"));
            lost.push(LostRange { bytes, block, reason: why });
        }
        if missing.is_empty() && !bytes.is_empty() {
            let why = format!("bytes outside of blocks: {what}");
            lost.push(LostRange { bytes, block: None, reason: why });
        }
    };
    let (mut from, mut next) = (start, 0);
    let mut kept = header.to_vec();
    for (block, place) in &found {
        between(from..place.start, next..*block);
        kept.extend_from_slice(slice(pack, place).unwrap_or_default());
        (from, next) = (place.end, block + 1);
    }
    between(from..if has_end { end.start } else { end.end }, next..blocks);
    kept.extend_from_slice(&END_FRAME);
    for (is_there, bytes, name) in [(has_header, 0..0, "header"), (has_end, end, "END")] {
        if !is_there {
            let why = format!("rebuilt the damaged {name}");
            lost.push(LostRange { bytes: bytes.end..bytes.end, block: None, reason: why });
        }
    }
    let before = found.into_iter().map(|(block, place)| (block.into(), place)).collect();
    Salvage {
        frames: Cow::Owned(kept),
        before: Some(before),
        total: Some(footer.blocks),
        has_index: true,
        lost,
    }
}

/// Returns a description of the damage to a frame that is in the index, or `None` if it is
/// undamaged.
fn damage(index: &PackIndex, block: u32, bytes: &[u8]) -> Option<String> {
    if index.checksum(block).is_some_and(|check| check != crc32c::crc32c(bytes)) {
        return Some("the checksum of the block does not match".to_owned());
    }
    // The body is not decoded here. Unreadable bodies are reported when the new pack is written.
    let alone = [&HEADER, bytes, &END_FRAME].concat();
    let events = EventIter::new(&alone, DecodeOptions::default());
    let mut frames = events.filter_map(|event| match event {
        Ok(Event::Frame(frame)) => Some(Ok(frame)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let is_it = |frame: &Frame<'_>| {
        let end = frame.body_offset + frame.body.len() as u64;
        end == (HEADER.len() + bytes.len()) as u64
            && index.flags(block) == Some(frame.flags)
            && index.block_index().types.get(block as usize) == Some(&frame.block_type.code())
    };
    match (frames.next(), frames.next()) {
        (Some(Ok(frame)), None) if is_it(&frame) => None,
        _ => Some("the block does not match the index".to_owned()),
    }
}
