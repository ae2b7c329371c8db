//! Batches of frames that are decoded together.

use crate::error::{Error, Warning};
use crate::events::{Event, Frame};
use crate::state::ParserState;

/// The maximum number of frames in a batch. With the feature `rayon`, the bodies of a batch are
/// decompressed in parallel.
const BATCH_FRAMES: usize = 4096;
/// The total size of stored bodies, in bytes, after which a batch ends.
const BATCH_BYTES: usize = 16 << 20;

/// A batch of consecutive frames, with the warnings between them.
#[derive(Default)]
pub(crate) struct Batch<'a> {
    pub(crate) frames: Vec<Frame<'a>>,
    pub(crate) warnings: Vec<Warning>,
    /// The number of bytes parsed.
    pub(crate) consumed: usize,
    /// `true` after the end of the input.
    pub(crate) is_last: bool,
    /// The parse error after the frames. Errors in their bodies take precedence.
    pub(crate) failed: Option<Error>,
}

impl<'a> Batch<'a> {
    /// Parses frames until the batch is full, the data ends or an error occurs.
    pub(crate) fn parse(state: &mut ParserState, data: &'a [u8], eof: bool) -> Self {
        let mut batch = Self::default();
        let mut stored = 0;
        while batch.frames.len() < BATCH_FRAMES && stored < BATCH_BYTES {
            let rest = data.get(batch.consumed..).unwrap_or_default();
            let step = match state.parse(rest, eof) {
                Ok(step) => step,
                Err(error) => {
                    batch.failed = Some(error);
                    break;
                }
            };
            batch.consumed += step.consumed;
            match step.event {
                Some(Event::Frame(frame)) => {
                    stored += frame.body.len();
                    batch.frames.push(frame);
                }
                Some(Event::Warning(warning)) => batch.warnings.push(warning),
                Some(Event::Header(_) | Event::End { .. }) => {}
                Some(Event::Done) | None => {
                    batch.is_last = eof;
                    break;
                }
            }
        }
        batch
    }
}

#[cfg(feature = "rayon")]
pub(crate) use crate::parallel::decode_frames;

/// Decodes the frames of a batch, and appends the blocks.
#[cfg(not(feature = "rayon"))]
pub(crate) fn decode_frames<'a>(
    state: &mut ParserState,
    frames: Vec<Frame<'a>>,
    store: Option<&dyn lcp_types::ContentStore>,
    blocks: &mut Vec<lcp_types::Block<'a>>,
) -> crate::error::Result<()> {
    for frame in frames {
        blocks.push(state.decode(frame, store)?);
    }
    Ok(())
}
