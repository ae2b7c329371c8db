//! A private tokio runtime for libraries whose public calls block.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::unconstrained;

/// Threads that drive connections and timers; they wait most of the time.
const THREADS: usize = 2;

/// A private multi-threaded runtime that can be dropped anywhere, even by a task of another
/// runtime.
#[derive(Debug)]
pub struct OwnedRuntime(Option<Runtime>, Handle);

impl OwnedRuntime {
    /// Starts a runtime whose threads have this name.
    ///
    /// # Errors
    ///
    /// If the threads cannot be started.
    pub fn new(thread_name: &str) -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().worker_threads(THREADS).thread_name(thread_name);
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        Ok(Self(Some(runtime), handle))
    }

    /// Returns the handle of the runtime.
    #[must_use]
    pub const fn handle(&self) -> &Handle {
        &self.1
    }

    /// Runs `future` to its end, as [`block_on`] does.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        block_on(&self.1, future)
    }
}

impl Drop for OwnedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs `future` to its end on the calling thread; the runtime behind `handle` drives its
/// connections and timers.
///
/// Unlike [`Handle::block_on`], it may be called by a task of any other runtime. Such a task
/// blocks its thread meanwhile.
pub fn block_on<T>(handle: &Handle, future: impl Future<Output = T>) -> T {
    let _entered = handle.enter();
    // A task that calls may have used up its cooperative budget: it would never get on.
    let mut future = pin!(unconstrained(future));
    let unparker = Arc::new(Unparker { thread: thread::current(), woken: AtomicBool::new(false) });
    let waker = Waker::from(Arc::clone(&unparker));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        while !unparker.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

/// A waker that unparks a thread. Its flag survives when other code uses up the token.
struct Unparker {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn it_waits_within_runtimes_of_any_kind() {
        let own = OwnedRuntime::new("test").unwrap();
        let work = || async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::spawn(async { 7 }).await.unwrap()
        };
        assert_eq!(own.block_on(work()), 7);
        // Without a timer of its own: ours counts.
        let current = Builder::new_current_thread().build().unwrap();
        assert_eq!(current.block_on(async { own.block_on(work()) }), 7);
        let many = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let task = async move { own.block_on(work()) };
        assert_eq!(many.block_on(async { tokio::spawn(task).await.unwrap() }), 7);
    }

    #[test]
    fn a_task_without_budget_gets_on() {
        let own = OwnedRuntime::new("test").unwrap();
        let current = Builder::new_current_thread().build().unwrap();
        let sum = current.block_on(async {
            let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
            (0..1000).for_each(|n| sender.send(n).unwrap());
            let mut sum = 0;
            // Far more than a task may take before it must yield.
            own.block_on(async {
                for _ in 0..1000 {
                    sum += receiver.recv().await.unwrap();
                }
            });
            sum
        });
        assert_eq!(sum, 499_500);
    }
}
