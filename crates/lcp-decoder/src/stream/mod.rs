//! Stream decoders: loops around the parser, which does no I/O itself.
//!
//! `state.rs` has the shared state: the bytes that were read but not parsed yet, and the number of
//! bytes to read before parsing again.

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

/// An error of a stream decoder.
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
    /// The reader failed. No data is lost: the next call continues with the next read.
    #[error("cannot read: {source} (byte {offset})")]
    Read {
        /// The error of the reader.
        source: io::Error,
        /// The number of bytes read before the error.
        offset: u64,
    },
    /// The pack is malformed or exceeds a limit. The error is the one that
    /// [`decode`](crate::decode) returns for the whole pack.
    #[error(transparent)]
    Decode(#[from] Error),
}

impl StreamError {
    /// Returns the byte offset in the stream: the location of the error in the pack
    /// ([`Error::offset`]), or the number of bytes read before the reader failed.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Read { offset, .. } => *offset,
            Self::Decode(error) => error.offset(),
        }
    }
}
