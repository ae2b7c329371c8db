//! Errors of operations on packs.

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
}

impl Error {
    /// Returns a hint for fixing the error, in the imperative.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotAppendable(_) => {
                Some("create a new pack with `lcp merge PACK INPUT... -o NEW`")
            }
            Self::Damaged(_) => Some("recover the undamaged blocks with `lcp recover PACK -o NEW`"),
            Self::Malformed { .. } | Self::Encode(_) => None,
        }
    }
}

impl From<lcp_decoder::Error> for Error {
    fn from(error: lcp_decoder::Error) -> Self {
        Self::Malformed { input: None, error }
    }
}
