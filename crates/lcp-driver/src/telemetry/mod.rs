//! Events of `tracing` and gauges of the `metrics` facade, each with its own feature (RFC 0004
//! §10). Without these features, the functions have no effect.

#[cfg(feature = "metrics")]
mod gauges;
#[cfg(feature = "tracing")]
mod trace;

use crate::detail::ShownDetail;
use crate::plan::Plan;
use crate::segments::allocation::LevelAllocation;
use crate::warning::Warning;

#[inline]
pub(crate) fn record_segments(allocation: &LevelAllocation, budget: u32) {
    #[cfg(feature = "tracing")]
    trace::segments(allocation, budget);
    #[cfg(feature = "metrics")]
    gauges::segments(allocation);
    let _ = (allocation, budget);
}

/// A plan that was made from an index.
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "only events have all of it"))]
pub(crate) struct IndexedPlan<'r> {
    /// The tokens of the text.
    pub(crate) used: u32,
    pub(crate) budget: u32,
    /// The number of blocks of the pack.
    pub(crate) blocks: usize,
    /// The detail and the tokens of each shown part.
    pub(crate) parts: &'r [(ShownDetail, u32)],
    pub(crate) warnings: &'r [Warning],
}

#[inline]
pub(crate) fn record_indexed_plan(plan: &IndexedPlan<'_>) {
    #[cfg(feature = "tracing")]
    trace::indexed(plan);
    #[cfg(feature = "metrics")]
    gauges::indexed(plan);
    let _ = plan;
}

#[inline]
pub(crate) fn record_plan(plan: &Plan) {
    #[cfg(feature = "tracing")]
    trace::plan(plan);
    #[cfg(feature = "metrics")]
    gauges::plan(plan);
    let _ = plan;
}
