//! The data types of the crate.

mod anchor;
mod handoff;
mod message;
mod state;
#[cfg(test)]
mod tests;
mod time;
mod usage;

pub use anchor::{AnchorKind, AnchorPoint, AnchorSource, Speaker};
pub use handoff::{
    ContinuationDirective, Coverage, DirectiveStyle, HandoffDecision, HandoffMetadata,
    HandoffOptions, OpenCall, Ratio, ResumedSession, SessionHandoff,
};
pub use message::{Message, Recorded};
pub use state::{PendingTask, SessionState, TaskStatus};
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub(crate) use time::to_millis;
pub use time::{Clock, ManualClock, SystemClock, Timestamp};
pub use usage::{ReportedUsage, TokenUsage, UsageSource};

/// Returns the first 16 hexadecimal digits of a hash of these parts. The length of each part is
/// hashed too, so the boundaries between parts matter.
pub(crate) fn short_hash(parts: &[&[u8]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().as_str()[..16].to_owned()
}
