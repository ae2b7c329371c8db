//! Parallel decoding of packs in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use lcp_types::wire::HEADER_BYTES;
use lcp_types::{Block, ContentStore};
use rayon::prelude::*;

use crate::batch::Batch;
use crate::blocks::Pack;
use crate::body::ResourceUse;
use crate::error::Result;
use crate::events::{Frame, Header};
use crate::options::DecodeOptions;
use crate::state::ParserState;

/// The minimum size of compressed bodies, in bytes, for which other threads are used.
const SHARED_BYTES_MIN: usize = 64 << 10;

/// Decodes a whole pack in the rayon pool, with the same result as [`decode`](crate::decode).
///
/// Blocks that are compressed one by one are decoded in parallel. The store is called on the
/// calling thread. The limits apply, but memory for one body per thread may be needed beyond
/// [`DecodeOptions::total_decompressed_bytes_max`].
///
/// # Errors
///
/// Returns the same errors as [`decode`](crate::decode).
///
/// ```
/// use lcp_decoder::{DecodeOptions, decode, decode_parallel};
/// use lcp_encoder::{Compression, EncodeOptions, encode};
/// use lcp_types::{Block, Lang};
///
/// let blocks = vec![Block::code(Lang::Rust, "a.rs", "fn a() {}\n".repeat(1000)); 100];
/// # #[cfg(feature = "zstd")] {
/// let options = EncodeOptions { compression: Compression::Block, ..Default::default() };
/// let pack = encode(&blocks, options)?;
/// assert_eq!(decode_parallel(&pack, DecodeOptions::default())?.blocks, blocks);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn decode_parallel<'a>(pack: &'a [u8], options: DecodeOptions<'_>) -> Result<Pack<'a>> {
    let mut state = ParserState::new(options.limits());
    let (mut blocks, mut warnings) = (Vec::new(), Vec::new());
    let mut data = pack;
    loop {
        let batch = Batch::parse(&mut state, data, true);
        data = data.get(batch.consumed..).unwrap_or_default();
        warnings.extend(batch.warnings);
        decode_frames(&mut state, batch.frames, options.store, &mut blocks)?;
        if let Some(error) = batch.failed {
            return Err(error);
        }
        if batch.is_last {
            break;
        }
    }
    let header = Header::parse(pack.get(..HEADER_BYTES).unwrap_or(pack))?;
    Ok(Pack { header, blocks, warnings })
}

/// Decodes the frames of a batch and appends the blocks in order. Compressed frames are decoded in
/// the rayon pool.
pub(crate) fn decode_frames<'a>(
    state: &mut ParserState,
    frames: Vec<Frame<'a>>,
    store: Option<&dyn ContentStore>,
    blocks: &mut Vec<Block<'a>>,
) -> Result<()> {
    let mut ready = decompressed(&frames, state);
    for (i, frame) in frames.into_iter().enumerate() {
        let block = match ready.get_mut(i).and_then(Option::take) {
            Some((block, used)) if state.commit(&frame, used) => block,
            _ => {
                if is_shared(&frame) {
                    // The body is malformed or a limit is near; `decode` finds out which. The
                    // results for later frames are dropped because they use memory.
                    ready = Vec::new();
                }
                state.decode(frame, store)?
            }
        };
        blocks.push(block);
    }
    Ok(())
}

/// Returns whether other threads can decode the frame.
fn is_shared(frame: &Frame<'_>) -> bool {
    frame.is_compressed() && !frame.is_reference()
}

/// A block that was compressed, and the resources it uses.
type Decompressed = (Block<'static>, ResourceUse);

/// Decodes the compressed frames of a batch. The result has `None` for other frames, and is empty
/// if parallel decoding is not worthwhile.
fn decompressed(batch: &[Frame<'_>], state: &ParserState) -> Vec<Option<Decompressed>> {
    let shared = batch.iter().filter(|frame| is_shared(frame));
    let (count, stored) =
        shared.fold((0, 0), |(count, stored), frame| (count + 1, stored + frame.body.len()));
    if count < 2 || stored < SHARED_BYTES_MIN {
        return Vec::new();
    }
    // The resources that the threads have used so far. They are an upper bound for the blocks
    // before the current one, so all threads together stay within the limit.
    let (decompressed, nested) = (AtomicU64::new(0), AtomicU64::new(0));
    let load = |of: &AtomicU64| of.load(Ordering::Relaxed);
    let decode = |frame: &Frame<'_>| {
        let before = ResourceUse { decompressed: load(&decompressed), nested: load(&nested) };
        let (block, used) = state.decode_detached(frame, before)?;
        decompressed.fetch_add(used.decompressed, Ordering::Relaxed);
        nested.fetch_add(used.nested, Ordering::Relaxed);
        Some((block, used))
    };
    let decode = |frame: &Frame<'_>| if is_shared(frame) { decode(frame) } else { None };
    batch.par_iter().with_max_len(8).map(decode).collect()
}
