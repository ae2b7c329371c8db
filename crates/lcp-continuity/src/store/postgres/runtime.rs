//! Asynchronous work, waited for wherever one is.

use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use tokio::runtime::{Builder, Runtime};
use tokio::task::unconstrained;

use crate::store::error::{Error, Result};

/// Threads that serve the connections: they wait most of the time.
const THREADS: usize = 2;

/// A runtime of our own, whose threads serve the connections. Who calls waits on the
/// thread it is on.
///
/// `Runtime::block_on` would panic where the caller is a task of a runtime. This does
/// not: connections and timers are driven by our threads, whatever the caller's
/// runtime has.
pub(super) struct Own(Option<Runtime>);

impl Own {
    pub(super) fn start() -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().worker_threads(THREADS).thread_name("lcp-postgres");
        let runtime = builder.build().map_err(|error| Error::Io { reason: error.to_string() })?;
        Ok(Self(Some(runtime)))
    }

    /// What `work` comes to.
    pub(super) fn wait_for<T>(&self, work: impl Future<Output = T>) -> T {
        let _entered = self.0.as_ref().map(Runtime::enter);
        // A task that called may have no budget left: then it would never get on.
        let mut work = pin!(unconstrained(work));
        let bell = Arc::new(Bell::default());
        let waker = Waker::from(Arc::clone(&bell));
        let mut context = Context::from_waker(&waker);
        loop {
            if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
                return done;
            }
            bell.wait();
        }
    }
}

/// It may be dropped anywhere, even by a task of another runtime.
impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Rings when there is something to go on with.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn wait(&self) {
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        while !*rung {
            rung = self.changed.wait(rung).unwrap_or_else(PoisonError::into_inner);
        }
        *rung = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_waits_within_runtimes_of_any_kind() {
        let own = Own::start().unwrap();
        let work = || async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::spawn(async { 7 }).await.unwrap()
        };
        assert_eq!(own.wait_for(work()), 7);
        // Without a driver of time: it is ours that counts.
        let current = Builder::new_current_thread().build().unwrap();
        assert_eq!(current.block_on(async { own.wait_for(work()) }), 7);
        let many = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let task = async move { own.wait_for(work()) };
        assert_eq!(many.block_on(async { tokio::spawn(task).await.unwrap() }), 7);
    }

    #[test]
    fn a_task_without_budget_gets_on() {
        let own = Own::start().unwrap();
        let current = Builder::new_current_thread().build().unwrap();
        let sum = current.block_on(async {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            (0..1000).for_each(|n| sender.send(n).unwrap());
            let mut sum = 0;
            // Far more than a task may take before it must yield.
            own.wait_for(async {
                for _ in 0..1000 {
                    sum += receiver.recv().await.unwrap();
                }
            });
            sum
        });
        assert_eq!(sum, 499_500);
    }
}
