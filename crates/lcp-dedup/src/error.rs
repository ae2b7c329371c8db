//! What can be wrong with what is asked for.

/// Why nothing was deduplicated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DedupError {
    /// A threshold out of its range.
    #[error("{name} must be from {min} to 1, not {value}")]
    Threshold {
        /// The option.
        name: &'static str,
        /// What was given.
        value: f64,
        /// The least that it may be.
        min: f64,
    },
}

impl DedupError {
    /// The stable code (Task 016.c).
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "LCP-BUD-004"
    }
}
