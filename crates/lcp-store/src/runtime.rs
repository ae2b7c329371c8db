//! A private tokio runtime for libraries whose public calls block.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::unconstrained;

/// The number of threads that drive connections and timers. They are idle most of the time.
const THREADS: usize = 2;

/// A private multi-threaded runtime that can be dropped anywhere, even in a task of another
/// runtime.
#[derive(Debug)]
pub struct OwnedRuntime(Option<Runtime>, Handle);

impl OwnedRuntime {
    /// Starts a runtime with this name for its threads.
    ///
    /// # Errors
    ///
    /// Returns an error if the threads cannot be started.
    pub fn new(thread_name: &str) -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().worker_threads(THREADS).thread_name(thread_name);
        let runtime = builder.build()?;
        let handle = runtime.handle().clone();
        Ok(Self(Some(runtime), handle))
    }

    /// Runs `future` to completion on the calling thread. The runtime drives its connections and
    /// timers.
    ///
    /// Unlike [`Runtime::block_on`], this can be called from a task of another runtime. The call
    /// blocks the thread of that task.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let _entered = self.1.enter();
        // A calling task may have exhausted its cooperative budget, and then the future would never
        // proceed.
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

/// A waker that unparks a thread. Its flag stays set even if other code consumes the unpark token.
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
