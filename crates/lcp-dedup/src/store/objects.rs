//! A store that machines share, on any `object_store`.

use std::sync::Arc;
use std::{fmt, panic, thread};

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error as ObjectError, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutPayload,
};
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};

use super::backend::{Backend, Found, Name, Put};
use super::error::{Error, Result, of_write};
use super::verified::{BODY_BYTES_MAX, Store};

/// Requests that are under way at a time, for one call.
const CONCURRENT: usize = 16;

/// Threads that serve the requests: they wait most of the time.
const THREADS: usize = 2;

/// Bodies in an object store: S3, Azure, Google Cloud, a folder, memory, or
/// whatever else implements [`ObjectStore`].
///
/// Which of them can be used is for you to choose, by the features of the
/// `object_store` crate (`aws`, `azure`, `gcp`, `fs` …). To share a bucket with
/// other things, put an `object_store::prefix::PrefixStore` around it.
///
/// A body is one object, as it is, named by its hash in hexadecimal with a `/`
/// behind the first two digits. One that is there is not sent again. Up to 16
/// requests are under way at a time. What was put is as durable as the object store
/// makes it. A batch is not atomic: of one that fails, some bodies may be there.
///
/// Calls block, so from asynchronous code they belong in `spawn_blocking`.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_dedup::store::{BatchStore, SharedStore};
/// use object_store::memory::InMemory;
///
/// let mut store = SharedStore::over(Arc::new(InMemory::new()))?;
/// let hashes = store.put_many(&[b"one", b"two"])?;
/// assert_eq!(store.get_many(&hashes[1..])?, [Some(b"two".to_vec())]);
/// # Ok::<(), lcp_dedup::store::Error>(())
/// ```
pub type SharedStore = Store<Objects>;

/// The [`Backend`] of a [`SharedStore`].
#[derive(Clone)]
pub struct Objects {
    service: Arc<dyn ObjectStore>,
    handle: Handle,
    /// The runtime behind the handle, where it is our own.
    _runtime: Option<Arc<Own>>,
}

impl Store<Objects> {
    /// A store on `objects`, with a runtime of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the runtime's threads cannot be started.
    pub fn over(objects: Arc<dyn ObjectStore>) -> Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.enable_all().worker_threads(THREADS).thread_name("lcp-store");
        let runtime = builder.build().map_err(|error| Error::Io { reason: error.to_string() })?;
        let handle = runtime.handle().clone();
        let runtime = Some(Arc::new(Own(Some(runtime))));
        Ok(Self::new(Objects { service: objects, handle, _runtime: runtime }))
    }

    /// A store on `objects`, whose requests are served by the runtime behind
    /// `handle`. That one must be multi-threaded, and no task of it may ask the
    /// store but by `spawn_blocking`: it would wait for itself.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the runtime has one thread only.
    pub fn served_by(handle: Handle, objects: Arc<dyn ObjectStore>) -> Result<Self> {
        if handle.runtime_flavor() != RuntimeFlavor::MultiThread {
            let reason = "the runtime is not multi-threaded: use `SharedStore::over`".to_owned();
            return Err(Error::Io { reason });
        }
        Ok(Self::new(Objects { service: objects, handle, _runtime: None }))
    }
}

impl Objects {
    /// Does `work` for every name, some at a time; the answers in their order.
    fn each<I: Send, T: Send, F: Future<Output = Result<T>> + Send>(
        &self,
        items: impl Iterator<Item = I> + Send,
        work: impl Fn(I) -> F + Send,
    ) -> Result<Vec<T>> {
        let all = stream::iter(items).map(work).buffered(CONCURRENT).try_collect();
        // On a thread of its own, where waiting is allowed: the caller may be a
        // task of some other runtime.
        thread::scope(|scope| {
            let waiting = thread::Builder::new()
                .spawn_scoped(scope, || self.handle.block_on(all))
                .map_err(|error| Error::Io { reason: format!("no thread: {error}") })?;
            waiting.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
        })
    }
}

impl Backend for Objects {
    fn has(&self, names: &[Name]) -> Result<Vec<bool>> {
        self.each(names.iter(), |name| self.is_there(name))
    }

    fn get(&self, names: &[Name]) -> Result<Vec<Found>> {
        self.each(names.iter(), |name| self.find(name))
    }

    fn put(&mut self, bodies: &[(Name, &[u8])], put: Put) -> Result<()> {
        self.each(bodies.iter(), |(name, body)| self.keep(name, body, put)).map(drop)
    }
}

impl Objects {
    async fn is_there(&self, name: &Name) -> Result<bool> {
        match self.service.head(&path(name)).await {
            Ok(_) => Ok(true),
            Err(ObjectError::NotFound { .. }) => Ok(false),
            Err(error) => Err(read_failed(&error)),
        }
    }

    async fn find(&self, name: &Name) -> Result<Found> {
        let object = match self.service.get_opts(&path(name), GetOptions::default()).await {
            Ok(object) => object,
            Err(ObjectError::NotFound { .. }) => return Ok(Found::Nothing),
            Err(error) => return Err(read_failed(&error)),
        };
        // Before it is fetched, and again while: what it claims need not be true.
        if object.meta.size > BODY_BYTES_MAX {
            return Ok(Found::Damaged);
        }
        let mut body = Vec::new();
        let mut pieces = object.into_stream();
        while let Some(piece) = pieces.try_next().await.map_err(|error| read_failed(&error))? {
            body.extend_from_slice(&piece);
            if body.len() as u64 > BODY_BYTES_MAX {
                return Ok(Found::Damaged);
            }
        }
        Ok(Found::Body(body))
    }

    async fn keep(&self, name: &Name, body: &[u8], put: Put) -> Result<()> {
        // What cannot be asked for, by who may only write, may still be put.
        if put == Put::Keep && self.is_there(name).await == Ok(true) {
            return Ok(());
        }
        let (path, payload) = (path(name), PutPayload::from(body.to_vec()));
        let mode = match put {
            Put::Keep => PutMode::Create,
            Put::Replace => PutMode::Overwrite,
        };
        match self.service.put_opts(&path, payload.clone(), mode.into()).await {
            Ok(_) | Err(ObjectError::AlreadyExists { .. }) => Ok(()),
            // Some services cannot make an object only where there is none. The
            // same bytes once more do no harm.
            Err(ObjectError::NotImplemented { .. } | ObjectError::NotSupported { .. }) => {
                let overwritten = self.service.put(&path, payload).await;
                overwritten.map(drop).map_err(|error| write_failed(&error))
            }
            Err(error) => Err(write_failed(&error)),
        }
    }
}

/// Not all in one folder, which file systems do not like.
fn path(name: &Name) -> Path {
    let name = blake3::Hash::from_bytes(*name).to_hex();
    let (folder, file) = name.split_at(2);
    Path::from_iter([folder, file])
}

fn read_failed(error: &ObjectError) -> Error {
    Error::Io { reason: error.to_string() }
}

fn write_failed(error: &ObjectError) -> Error {
    if matches!(error, ObjectError::PermissionDenied { .. }) {
        return Error::ReadOnly;
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(known) = error.downcast_ref().and_then(of_write) {
            return known;
        }
        cause = error.source();
    }
    read_failed(error)
}

/// Not as the service prints itself: one in memory prints its bodies.
impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Objects").field(&format_args!("{}", self.service)).finish()
    }
}

/// A runtime that may be dropped anywhere, even by a task of another.
struct Own(Option<Runtime>);

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_cause_says_what_to_do() {
        let error = |kind: io::ErrorKind| {
            let source = Box::new(io::Error::from(kind));
            write_failed(&ObjectError::Generic { store: "test", source })
        };
        assert_eq!(error(io::ErrorKind::StorageFull), Error::Full);
        assert_eq!(error(io::ErrorKind::QuotaExceeded), Error::Full);
        assert_eq!(error(io::ErrorKind::ReadOnlyFilesystem), Error::ReadOnly);
        assert!(matches!(error(io::ErrorKind::ConnectionReset), Error::Io { .. }));
    }
}
