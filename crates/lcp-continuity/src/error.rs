//! Errors of the session service.

use crate::compact::CompactionError;
use crate::handoff_pack::PackageError;
use crate::store;
use crate::trigger::ThresholdsError;

/// The result of a call to the session service.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the session service.
///
/// Unless the documentation of a method says otherwise, a call that fails changes nothing in the
/// store.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// A hand-off cannot be read from a pack or written to one.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The conversation is not open in this service.
    #[error("session {0:?} is not open here; open it first")]
    NotOpen(String),
    /// A transcript differs from the recorded messages of the conversation.
    #[error("message {position} differs from the recorded one of session {conversation:?}")]
    Differs {
        /// The conversation.
        conversation: String,
        /// The position of the first message that differs, counted from 0.
        position: u64,
    },
    /// The conversation has no messages to hand over.
    #[error("session {0:?} has no messages to hand over")]
    NothingToHandOver(String),
    /// The directive would have no content.
    #[error(
        "a resume prompt of at most {} has no room for content",
        lcp_driver::plural(*target, "token")
    )]
    TargetTooSmall {
        /// The requested maximum tokens.
        target: u32,
        /// The minimum tokens of a directive with content.
        least: u32,
    },
    /// The directive cannot be rendered.
    #[error(transparent)]
    Directive(#[from] lcp_driver::DriverError),
    /// The conversation cannot be compacted.
    #[error(transparent)]
    Compaction(#[from] CompactionError),
    /// The thresholds of the configuration are invalid.
    #[error("invalid thresholds: {0}")]
    Thresholds(#[from] ThresholdsError),
}

impl Error {
    /// Returns a stable name of the error, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::Package(_) => "bad_package",
            Self::NotOpen(_) => "not_open",
            Self::Differs { .. } => "differs",
            Self::NothingToHandOver(_) => "nothing_to_hand_over",
            Self::TargetTooSmall { .. } => "target_too_small",
            Self::Directive(_) => "bad_directive",
            Self::Compaction(_) => "not_compacted",
            Self::Thresholds(_) => "bad_thresholds",
        }
    }
}
