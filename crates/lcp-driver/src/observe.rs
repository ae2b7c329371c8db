//! What can be watched from outside (RFC 0004 §10): events of `tracing`, and gauges of the
//! `metrics` facade, each behind its feature. Without them nothing here does anything.

#[cfg(feature = "metrics")]
mod gauges;
#[cfg(feature = "tracing")]
mod trace;

use crate::detail::DetailLevel;
use crate::plan::Plan;
use crate::segments::LevelAllocation;
use crate::warning::Warning;

/// Tells of an allocation of segments within `budget` tokens.
#[inline]
pub(crate) fn segments(allocation: &LevelAllocation, budget: u32) {
    #[cfg(feature = "tracing")]
    trace::segments(allocation, budget);
    #[cfg(feature = "metrics")]
    gauges::segments(allocation);
    let _ = (allocation, budget);
}

/// What is told of a text that was planned by an index.
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only events tell all of it"))]
pub(crate) struct IndexedRun<'r> {
    /// The tokens of the text.
    pub(crate) used: u32,
    pub(crate) budget: u32,
    /// Blocks of the pack.
    pub(crate) blocks: usize,
    /// What is shown, and its tokens.
    pub(crate) parts: &'r [(DetailLevel, u32)],
    pub(crate) warnings: &'r [Warning],
}

/// Tells of a text that was planned by an index.
#[inline]
pub(crate) fn indexed(run: &IndexedRun<'_>) {
    #[cfg(feature = "tracing")]
    trace::indexed(run);
    #[cfg(feature = "metrics")]
    gauges::indexed(run);
    let _ = run;
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
