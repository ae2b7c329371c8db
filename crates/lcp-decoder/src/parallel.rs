//! Parallel decoding of packs in memory.

use std::sync::atomic::{AtomicU64, Ordering};

use lcp_types::Block;
use rayon::prelude::*;

use crate::blocks::Pack;
use crate::body::ResourceUse;
use crate::error::{Error, ErrorKind, Result};
use crate::events::{Event, Frame};
use crate::options::DecodeOptions;
use crate::state::ParserState;

/// The maximum number of frames in a batch. The bodies of a batch are decompressed in parallel.
const BATCH_FRAMES: usize = 4096;
/// The total size of stored bodies, in bytes, after which a batch ends.
const BATCH_BYTES: usize = 16 << 20;
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
    let (mut header, mut blocks, mut warnings) = (None, Vec::new(), Vec::new());
    let mut data = pack;
    let mut ended = false;
    while !ended {
        let mut batch = Vec::new();
        let mut stored = 0;
        let mut failed = None;
        while !ended && batch.len() < BATCH_FRAMES && stored < BATCH_BYTES {
            let step = match state.parse(data, true) {
                Ok(step) => step,
                Err(error) => {
                    // Errors in the blocks before this one are reported first.
                    failed = Some(error);
                    break;
                }
            };
            data = data.get(step.consumed..).unwrap_or_default();
            match step.event {
                Some(Event::Frame(frame)) => {
                    stored += frame.body.len();
                    batch.push(frame);
                }
                Some(Event::Header(found)) => header = Some(found),
                Some(Event::Warning(warning)) => warnings.push(warning),
                Some(Event::End { .. }) => {}
                Some(Event::Done) | None => ended = true,
            }
        }
        let mut ready = decompressed(&batch, &state);
        for (i, frame) in batch.into_iter().enumerate() {
            let block = match ready.get_mut(i).and_then(Option::take) {
                Some((block, used)) if state.commit(&frame, used) => block,
                _ => {
                    if is_shared(&frame) {
                        // The body is malformed or a limit is near; `decode` finds out which. The
                        // results for later frames are dropped because they use memory.
                        ready = Vec::new();
                    }
                    state.decode(frame, options.store)?
                }
            };
            blocks.push(block);
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    let Some(header) = header else {
        // A pack without a header is an error, which the parser has already returned.
        return Err(Error::new(ErrorKind::MissingEnd, 0));
    };
    Ok(Pack { header, blocks, warnings })
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
