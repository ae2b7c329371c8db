//! What blocks cost, whole, in each mode.

use std::sync::Arc;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Plan, Verbosity};
use lcp_tokens::{CachedEstimator, CountCache, TokenEstimator};
use lcp_types::Block;

use crate::Result;
use lcp_app::{Error, ErrorKind};

/// Bytes that the counts of one run may take: a content is counted once for all modes.
const CACHE_BYTES: usize = 64 << 20;

/// The plan of each of these modes that shows all of `blocks`, in their order.
pub fn full_costs(
    blocks: &[Block<'_>],
    modes: &[OutputMode],
    estimator: &Arc<dyn TokenEstimator>,
) -> Result<Vec<Plan>> {
    let cache = Arc::new(CountCache::new(CACHE_BYTES));
    let driver = DefaultDriver::new(CachedEstimator::new(Arc::clone(estimator), cache));
    let plan = |&mode: &OutputMode| {
        let config = DriverConfig { mode, verbosity: Verbosity::Full, ..DriverConfig::default() };
        driver
            .plan(blocks, &config)
            .map_err(|error| Error::new(ErrorKind::Usage, error.to_string()))
    };
    modes.iter().map(plan).collect()
}
