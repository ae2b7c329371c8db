//! One pass over the blocks of a pack, which indexes them in memory.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::slice;

use lcp_types::{Block, BlockIndexBuilder};

use crate::batch::{Batch, decode_frames};
use crate::error::ReadError;
use crate::index::BlockTable;
use crate::options::DecodeOptions;
use crate::read_at::ReadAt;
use crate::state::ParserState;

/// The number of bytes that are read at once, unless a frame is longer.
pub(crate) const WINDOW_BYTES: u64 = 4 << 20;

/// Reads all blocks and passes them to `visit` in batches. Returns their frames and columns, or `None`
/// if decoding gives a warning or a frame has 4 GiB or more.
pub(crate) fn scan<S: ReadAt>(
    source: &S,
    options: DecodeOptions<'_>,
    window: u64,
    visit: &mut dyn FnMut(&[Block<'_>]),
) -> Result<Option<BlockTable>, ReadError> {
    let size = source.size()?;
    let mut state = ParserState::new(options.limits());
    let mut builder = BlockIndexBuilder::default();
    let mut table = BlockTable::default();
    let mut next = window;
    loop {
        let end = state.offset.saturating_add(next).min(size);
        let read = source.read(slice::from_ref(&(state.offset..end)))?;
        let mut data = read.first().map(Cow::as_ref).unwrap_or_default();
        if data.len() as u64 != end.saturating_sub(state.offset) {
            return Err(ReadError::Io(ErrorKind::UnexpectedEof.into()));
        }
        loop {
            let batch = Batch::parse(&mut state, data, end == size);
            data = data.get(batch.consumed..).unwrap_or_default();
            for frame in &batch.frames {
                let range = frame.range();
                let Ok(len) = u32::try_from(range.end - range.start) else { return Ok(None) };
                table.frames.push(frame.flags, range.start, len);
            }
            let mut blocks = Vec::with_capacity(batch.frames.len());
            decode_frames(&mut state, batch.frames, options.store, &mut blocks)?;
            if let Some(error) = batch.failed {
                return Err(error.into());
            }
            if !batch.warnings.is_empty() {
                return Ok(None);
            }
            for block in &blocks {
                builder.push(block);
            }
            if !blocks.is_empty() {
                visit(&blocks);
            }
            if batch.is_last {
                table.blocks = builder.finish();
                return Ok(Some(table));
            }
            if end < size && (batch.consumed == 0 || data.is_empty()) {
                // The next frame may be longer than the window.
                next = window.max((data.len() as u64).saturating_add(state.bytes_needed));
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lcp_encoder::{EncodeOptions, encode};
    use lcp_types::{BlockIndex, Role};

    use super::*;
    use crate::blocks::decode;

    /// Every window size gives the blocks, index and errors of [`decode`].
    #[test]
    fn windows_of_any_size_give_the_same_result() {
        let turn = |len: usize| Block::conversation(Role::User, "word ".repeat(len));
        let blocks: Vec<_> = [0, 1, 30, 2, 60].into_iter().map(turn).collect();
        let options = EncodeOptions { index: false, ..EncodeOptions::default() };
        let pack = encode(&blocks, options).unwrap();
        let mut damaged = pack.clone();
        damaged[20] ^= 0xFF;
        let more = |pack: &[u8]| [pack, b"more"].concat();
        let packs = [&pack, &more(&pack), &damaged, &more(&damaged), &pack[..pack.len() - 1]];
        let strict = DecodeOptions { strict: true, ..DecodeOptions::default() };
        let few = DecodeOptions { blocks_max: 3, ..DecodeOptions::default() };
        for (pack, options) in packs.into_iter().flat_map(|pack| {
            [DecodeOptions::default(), strict, few].into_iter().map(move |options| (pack, options))
        }) {
            let decoded = decode(pack, options);
            for window in 1..=pack.len() as u64 + 1 {
                let mut visited = Vec::new();
                let mut visit = |blocks: &[Block<'_>]| {
                    visited.extend(blocks.iter().cloned().map(Block::into_owned));
                };
                match (scan(&pack, options, window, &mut visit), &decoded) {
                    (Ok(Some(table)), Ok(decoded)) => {
                        assert!(decoded.warnings.is_empty(), "{window}");
                        assert_eq!(visited, decoded.blocks, "{window}");
                        assert_eq!(table.blocks, BlockIndex::from_blocks(&visited), "{window}");
                    }
                    (Ok(None), Ok(decoded)) => assert!(!decoded.warnings.is_empty(), "{window}"),
                    (Err(ReadError::Decode(error)), Err(expected)) => assert_eq!(error, *expected),
                    (other, _) => panic!("{window}: {:?}", other.is_ok()),
                }
            }
        }
    }
}
