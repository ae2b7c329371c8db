//! What can go wrong with a session.

use crate::compact::CompactionError;
use crate::handoff_pack::PackageError;
use crate::store;
use crate::trigger::ThresholdsError;

/// The result of asking a service.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a service could not do what it was asked. What is stored is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A hand-off is no pack, or cannot be one.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The conversation was not opened here.
    #[error("conversation {0:?} is not open here: open it first")]
    NotOpen(String),
    /// A transcript is not that of the conversation.
    #[error(
        "message {position} is not what was recorded of conversation {conversation:?} in its place"
    )]
    Differs {
        /// The conversation.
        conversation: String,
        /// The place of the first message that differs, counted from 0.
        position: u64,
    },
    /// There is nothing to hand over.
    #[error("conversation {0:?} has no messages: there is nothing to hand over")]
    NothingToHandOver(String),
    /// The directive cannot be rendered.
    #[error(transparent)]
    Directive(#[from] lcp_driver::DriverError),
    /// The conversation cannot be compacted.
    #[error(transparent)]
    Compaction(#[from] CompactionError),
    /// The configuration has thresholds that are none.
    #[error("the thresholds cannot be used: {0}")]
    Thresholds(#[from] ThresholdsError),
}

impl Error {
    /// A name that stays the same, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Package(_) => "bad_package",
            Self::NotOpen(_) => "not_open",
            Self::Differs { .. } => "differs",
            Self::NothingToHandOver(_) => "nothing_to_hand_over",
            Self::Directive(_) => "bad_directive",
            Self::Compaction(_) => "not_compacted",
            Self::Thresholds(_) => "bad_thresholds",
        }
    }
}
