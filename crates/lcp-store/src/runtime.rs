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

    /// Runs `future` to its end on the calling thread; the runtime drives its connections and
    /// timers.
    ///
    /// Unlike [`Runtime::block_on`], it may be called by a task of any other runtime. Such a task
    /// blocks its thread meanwhile.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let _entered = self.1.enter();
        // A task that calls may have used up its cooperative budget: it would never get on.
        let mut future = pin!(unconstrained(future));
        let unparker =
            Arc::new(Unparker { thread: thread::current(), woken: AtomicBool::new(false) });
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
}

impl Drop for OwnedRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
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
