//! Time that the processor spent, whatever else the machine was doing.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;

/// Time that the threads of this process spent on something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// The calling thread.
    pub(crate) thread: Duration,
    /// All threads.
    pub(crate) process: Duration,
}

impl Spent {
    fn now() -> Self {
        Self { thread: read(ClockId::ThreadCPUTime), process: read(ClockId::ProcessCPUTime) }
    }

    /// Runs something, and says what it took.
    pub(crate) fn on<T>(run: impl FnOnce() -> T) -> (T, Self) {
        let start = Self::now();
        let result = run();
        let end = Self::now();
        let thread = end.thread.saturating_sub(start.thread);
        let process = end.process.saturating_sub(start.process);
        (result, Self { thread, process })
    }

    /// What one thread spent.
    ///
    /// # Errors
    ///
    /// Where other threads worked too: then it is not what was to be measured.
    pub(crate) fn alone(self) -> Result<Duration, Error> {
        let others = self.process.saturating_sub(self.thread);
        if others > self.thread / 20 + Duration::from_millis(2) {
            return Err(Error::ManyThreads { thread: self.thread, others });
        }
        Ok(self.thread)
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}
