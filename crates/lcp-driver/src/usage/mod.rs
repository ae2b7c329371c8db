//! What was really used of a budget: levels, lines for a log, a history
//! (RFC 0004 §9 usage).
//!
//! Nothing here reads the environment or a clock, or prints: callers do.

mod history;
mod monitor;

pub use history::{UsageEntry, UsageHistory};
pub use monitor::{Usage, UsageError, UsageLevel, UsageMonitor, UsageThresholds};

/// Whether the value of `DEBUG_BUDGET` asks for [`Usage::debug_line`]: any does
/// but none, an empty one, `0` and `false`.
#[must_use]
pub fn debug_budget_enabled(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}
