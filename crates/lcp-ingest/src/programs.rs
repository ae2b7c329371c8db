//! Programs that read a text and answer with another one: a limited number at a time, with a cache.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use crate::cache::Cache;

/// The answers of programs. At most a given number of programs run at once.
#[derive(Debug)]
pub(crate) struct Answers {
    jobs: Semaphore,
    cache: Option<Cache>,
}

impl Answers {
    /// Returns answers that are stored in the folder `cache`, if there is one and they have at most
    /// `bytes_max` bytes.
    pub(crate) fn new(jobs: NonZeroUsize, cache: Option<PathBuf>, bytes_max: u64) -> Self {
        let cache = cache.map(|folder| Cache::new(folder, bytes_max));
        Self { jobs: Semaphore::new(jobs.get()), cache }
    }

    /// Returns the cached answer to a question, or asks a program. The parts of the question must
    /// determine the answer.
    ///
    /// Answers that are not UTF-8, or that have NULs or a secret, are not stored.
    pub(crate) fn get_or_ask<E>(
        &self,
        question: &[&[u8]],
        ask: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let key = Cache::key(question);
        if let Some(answer) = self.cache.as_ref().and_then(|cache| cache.get(&key)) {
            return Ok(answer);
        }
        let answer = {
            let _permit = self.jobs.acquire();
            ask()?
        };
        // In another character set, secrets would not be found. UTF-16 can be valid UTF-8 with NULs.
        let is_safe = || {
            std::str::from_utf8(&answer).is_ok()
                && !answer.contains(&0)
                && lcp_secrets::find(&answer).is_empty()
        };
        if let Some(cache) = self.cache.as_ref().filter(|_| is_safe()) {
            cache.put(&key, &answer);
        }
        Ok(answer)
    }
}

#[derive(Debug)]
struct Semaphore {
    permits: Mutex<usize>,
    released: Condvar,
}

/// A permit, which is returned when it is dropped.
struct Permit<'s>(&'s Semaphore);

impl Semaphore {
    fn new(permits: usize) -> Self {
        Self { permits: Mutex::new(permits), released: Condvar::new() }
    }

    fn acquire(&self) -> Permit<'_> {
        let permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut permits = self
            .released
            .wait_while(permits, |permits| *permits == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *permits -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.permits.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.released.notify_one();
    }
}
