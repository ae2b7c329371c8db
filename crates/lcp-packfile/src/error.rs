//! Errors of operations on packs.

use std::io;

use lcp_decoder::{ReadError, StreamError};

/// An error of an operation on a pack. Its messages have no file names.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A pack is malformed.
    #[error("{error}")]
    Malformed {
        /// The index of the appended pack, or `None` for the pack itself.
        input: Option<usize>,
        /// The error of the decoder.
        #[source]
        error: lcp_decoder::Error,
    },
    /// The new pack would exceed a limit of the format.
    #[error(transparent)]
    Encode(#[from] lcp_encoder::Error),
    /// The pack is of a kind that cannot grow in place.
    #[error("{0}")]
    NotAppendable(&'static str),
    /// The pack is damaged, so it must not grow in place.
    #[error("{0}")]
    Damaged(String),
    /// The pack cannot be read.
    #[error("cannot read the pack: {0}")]
    Read(#[from] io::Error),
}

impl Error {
    /// Returns a hint for fixing the error, in the imperative.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAppendable(_) => {
                Some("create a new pack with `lcp merge PACK INPUT... -o NEW`")
            }
            Self::Damaged(_) => Some("recover the undamaged blocks with `lcp recover PACK -o NEW`"),
            Self::Malformed { .. } | Self::Encode(_) | Self::Read(_) => None,
        }
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::Read(error),
            ReadError::Decode(error) => error.into(),
            other => Self::Read(io::Error::other(other)),
        }
    }
}

impl From<StreamError> for Error {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Read { source, .. } => Self::Read(source),
            StreamError::Decode(error) => error.into(),
            other => Self::Read(io::Error::other(other)),
        }
    }
}

impl From<lcp_decoder::Error> for Error {
    fn from(error: lcp_decoder::Error) -> Self {
        Self::Malformed { input: None, error }
    }
}
