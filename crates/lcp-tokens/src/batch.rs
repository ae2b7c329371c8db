//! Counting many texts.

use crate::TokenEstimator;

/// How many tokens each of `texts` is, in their order (seed 004,
/// `ITokenCounter`). With the feature `rayon`, on as many threads as
/// rayon's pool has; the counts are the same.
///
/// ```
/// use lcp_tokens::{HeuristicEstimator, count_batch};
///
/// assert_eq!(count_batch(&HeuristicEstimator, &["", "four", "twice as much"]), [0, 1, 3]);
/// ```
pub fn count_batch<E, S>(estimator: &E, texts: &[S]) -> Vec<u32>
where
    E: TokenEstimator + ?Sized,
    S: AsRef<str> + Sync,
{
    #[cfg(feature = "rayon")]
    {
        use rayon::prelude::*;
        texts.par_iter().map(|text| estimator.estimate(text.as_ref())).collect()
    }
    #[cfg(not(feature = "rayon"))]
    texts.iter().map(|text| estimator.estimate(text.as_ref())).collect()
}
