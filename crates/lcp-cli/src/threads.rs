//! Threads for work of which most waits for other programs.

use std::num::NonZeroUsize;

use crate::Result;
use crate::failure::{Code, Failure};

/// Does this with as many threads of rayon as there are processors, or with `jobs` if that
/// is more.
///
/// # Errors
///
/// The system has no more threads.
pub fn with<T: Send>(jobs: Option<NonZeroUsize>, work: impl FnOnce() -> T + Send) -> Result<T> {
    let Some(jobs) = jobs.filter(|jobs| jobs.get() > rayon::current_num_threads()) else {
        return Ok(work());
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.get()).build();
    let pool = pool.map_err(|error| {
        Failure::new(Code::Io, format!("cannot start {jobs} threads: {error}"))
            .hint("--jobs says how many programs run at once")
    })?;
    Ok(pool.install(work))
}
