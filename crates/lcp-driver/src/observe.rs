//! What can be watched from outside (RFC 0004 §10): events of `tracing`, and
//! gauges of the `metrics` facade, each behind its feature. Without them
//! nothing here does anything.

#[cfg(feature = "metrics")]
mod gauges;
#[cfg(feature = "tracing")]
mod trace;

use crate::plan::Plan;
use crate::segments::LevelAllocation;

/// Tells of an allocation of segments within `budget` tokens.
#[inline]
pub(crate) fn segments(allocation: &LevelAllocation, budget: u32) {
    #[cfg(feature = "tracing")]
    trace::segments(allocation, budget);
    #[cfg(feature = "metrics")]
    gauges::segments(allocation);
    let _ = (allocation, budget);
}

/// Tells of a plan that was made.
#[inline]
pub(crate) fn run(plan: &Plan) {
    #[cfg(feature = "tracing")]
    trace::run(plan);
    #[cfg(feature = "metrics")]
    gauges::run(plan);
    let _ = plan;
}
