//! Token costs of blocks in full, by mode.

use std::sync::Arc;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode, Plan, Verbosity};
use lcp_tokens::{CachedEstimator, CountCache, TokenEstimator};
use lcp_types::Block;

use crate::error::{Error, ErrorKind, Result};

/// The maximum memory for counts in bytes. The cache counts each content once for all modes.
const CACHE_BYTES: usize = 64 << 20;

/// Returns the plans that show all of `blocks` in full, one for each of `modes`.
pub(crate) fn full_costs(
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
