//! Packs in an object store, read by byte ranges.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::{panic, thread};

use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};
use tokio::runtime::{Builder, Runtime};

use super::ReadAt;

/// An object in an [`ObjectStore`]. Each range is one request.
///
/// Reads fail if the object was overwritten after it was opened. Calls block, so asynchronous code
/// should use `spawn_blocking`.
pub struct RemoteObject {
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    runtime: Option<Runtime>,
}

impl RemoteObject {
    /// Opens the object at `path`.
    ///
    /// # Errors
    ///
    /// Returns an error if the object does not exist or its metadata cannot be read.
    pub fn open(store: Arc<dyn ObjectStore>, path: &Path) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let meta = waiting(|| runtime.block_on(store.head(path)))?.map_err(io::Error::from)?;
        Ok(Self { store, meta, runtime: Some(runtime) })
    }

    /// Reads one range, on the condition that the object has not changed since it was opened.
    async fn range(&self, range: &Range<u64>) -> object_store::Result<Cow<'static, [u8]>> {
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            if_match: self.meta.e_tag.clone(),
            ..GetOptions::default()
        };
        let got = self.store.get_opts(&self.meta.location, options).await?;
        Ok(Cow::Owned(got.bytes().await?.into()))
    }
}

impl ReadAt for RemoteObject {
    fn size(&self) -> io::Result<u64> {
        Ok(self.meta.size)
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        use futures_util::stream::{self, StreamExt, TryStreamExt};

        let Some(runtime) = &self.runtime else { return Err(io::ErrorKind::NotConnected.into()) };
        let requests = stream::iter(ranges).map(|range| self.range(range));
        let all = requests.buffered(CONCURRENT).try_collect::<Vec<_>>();
        let read = waiting(|| runtime.block_on(all))?.map_err(io::Error::from)?;
        let whole = |(bytes, range): (&Cow<'_, [u8]>, &Range<u64>)| {
            bytes.len() as u64 == range.end - range.start
        };
        if !read.iter().zip(ranges).all(whole) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(read)
    }

    fn has_high_latency(&self) -> bool {
        true
    }
}

impl Drop for RemoteObject {
    fn drop(&mut self) {
        // A runtime panics if it is dropped within another runtime and has to wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The maximum number of concurrent requests.
const CONCURRENT: usize = 16;

/// Runs `work` on a thread of its own, where it may block even if the caller is an asynchronous
/// task.
fn waiting<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause)))
    })
}
