//! Decoders of streams: loops around the parser, which does no I/O itself.
//!
//! `state.rs` has all that they share: the bytes that were read and not yet parsed, and the
//! number of bytes to read before parsing again.

#[cfg(feature = "tokio")]
mod async_reader;
mod reader;
mod state;

use std::io;

use crate::error::Error;
#[cfg(feature = "tokio")]
pub use async_reader::AsyncStreamDecoder;
pub use reader::StreamDecoder;
pub use state::StreamState;

/// Why there is no next block.
///
/// ```
/// use lcp_decoder::{StreamDecoder, StreamError};
///
/// let mut stream = StreamDecoder::new(&b"LCP\0\x01\0\0\0\x01\0\x05"[..], Default::default());
/// let error = stream.next_block().unwrap_err();
/// assert!(matches!(&error, StreamError::Decode(error) if error.code() == "unexpected_eof"));
/// assert_eq!(error.offset(), 11);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The reader failed. Nothing that it gave before is lost: asked again, the
    /// stream goes on with the next read.
    #[error("cannot read: {source} (byte {offset})")]
    Read {
        /// What the reader says.
        source: io::Error,
        /// How many bytes were read before.
        offset: u64,
    },
    /// The pack is malformed, or exceeds a limit; as [`decode`](crate::decode) says it
    /// of the whole.
    #[error(transparent)]
    Decode(#[from] Error),
}

impl StreamError {
    /// The byte of the stream: where the pack is wrong ([`Error::offset`]), or
    /// how many bytes were read before the reader failed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Read { offset, .. } => *offset,
            Self::Decode(error) => error.offset(),
        }
    }
}
