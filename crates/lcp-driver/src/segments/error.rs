//! Segments that cannot be allocated.

/// Why segments cannot be allocated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentsError {
    /// [`compression_aggressiveness`] is not from 0 to 1.
    ///
    /// [`compression_aggressiveness`]: crate::segments::BudgetAllocationOptions::compression_aggressiveness
    #[error("the compression aggressiveness must be from 0 to 1, it is {value}")]
    Aggressiveness {
        /// What it is.
        value: f64,
    },
    /// The importance of an anchor is negative, infinite or no number.
    #[error(
        "the importance of an anchor must be a finite number from 0 on, in segment {id:?} one is {value}"
    )]
    Importance {
        /// The segment.
        id: String,
        /// The importance.
        value: f64,
    },
    /// Two segments have the same id.
    #[error("two segments have the id {id:?}")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// A segment is to be expanded that there is not.
    #[error("segment {id:?} is to be expanded, but there is none with this id")]
    UnknownExpanded {
        /// The id.
        id: String,
    },
}

impl SegmentsError {
    /// A stable code, for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Aggressiveness { .. } => "bad_aggressiveness",
            Self::Importance { .. } => "bad_importance",
            Self::DuplicateId { .. } => "duplicate_segment",
            Self::UnknownExpanded { .. } => "unknown_segment",
        }
    }
}
