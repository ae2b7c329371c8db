//! The backend on any `object_store`, for a store that several machines share.

use std::fmt;
use std::io::{self, ErrorKind};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Error as ObjectError, GetOptions, ObjectStore, ObjectStoreExt, PutMode as ObjectPutMode,
    PutPayload,
};

use super::error::{Error, Result};
use super::store::{BODY_BYTES_MAX, Backend, BodyKey, Lookup, PutMode};
use crate::runtime::OwnedRuntime;

const CONCURRENCY: usize = 16;

/// A backend that keeps bodies in an object store: S3, Azure, Google Cloud, a folder, memory, or
/// any other implementation of [`ObjectStore`].
///
/// The features of the `object_store` crate (`aws`, `azure`, `gcp`, `fs` …) select the available
/// services. To share a bucket with other data, wrap it in an `object_store::prefix::PrefixStore`.
///
/// Each body is one uncompressed object. Its name is the hash in hexadecimal, with a `/` after the
/// first two digits. Existing bodies are not uploaded again. Up to 16 requests run at the same
/// time. The object store determines the durability of a body. A batch is not atomic: if it fails,
/// some bodies may have been stored.
///
/// All calls block, so use `spawn_blocking` in asynchronous code.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_store::content::{BatchStore, ContentAddressedStore, ObjectStoreBackend};
/// use object_store::memory::InMemory;
///
/// let objects = Arc::new(InMemory::new());
/// let mut store = ContentAddressedStore::new(ObjectStoreBackend::new(objects)?);
/// let hashes = store.put_many(&[b"one", b"two"])?;
/// assert_eq!(store.get_many(&hashes[1..])?, [Some(b"two".to_vec())]);
/// # Ok::<(), lcp_store::content::Error>(())
/// ```
#[derive(Clone)]
pub struct ObjectStoreBackend {
    objects: Arc<dyn ObjectStore>,
    runtime: Arc<OwnedRuntime>,
}

impl ObjectStoreBackend {
    /// Creates a backend on `objects`, with a private runtime.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Io`] if the threads of the runtime cannot be started.
    pub fn new(objects: Arc<dyn ObjectStore>) -> Result<Self> {
        let runtime =
            OwnedRuntime::new("lcp-store").map_err(|error| Error::Io(error.to_string()))?;
        Ok(Self { objects, runtime: Arc::new(runtime) })
    }

    /// Runs `request` for every item, several at a time. The results have the order of the items.
    fn for_each<I, T, F: Future<Output = Result<T>>>(
        &self,
        items: impl Iterator<Item = I>,
        request: impl Fn(I) -> F,
    ) -> Result<Vec<T>> {
        let all = stream::iter(items).map(request).buffered(CONCURRENCY).try_collect();
        self.runtime.block_on(all)
    }

    async fn exists(&self, key: &BodyKey) -> Result<bool> {
        match self.objects.head(&path(key)).await {
            Ok(_) => Ok(true),
            Err(ObjectError::NotFound { .. }) => Ok(false),
            Err(error) => Err(read_failed(&error)),
        }
    }

    async fn read(&self, key: &BodyKey) -> Result<Lookup> {
        let object = match self.objects.get_opts(&path(key), GetOptions::default()).await {
            Ok(object) => object,
            Err(ObjectError::NotFound { .. }) => return Ok(Lookup::Missing),
            Err(error) => return Err(read_failed(&error)),
        };
        // Check the size before the download and during it, because the metadata may be wrong.
        if object.meta.size > BODY_BYTES_MAX {
            return Ok(Lookup::Damaged);
        }
        let mut body = Vec::new();
        let mut pieces = object.into_stream();
        while let Some(piece) = pieces.try_next().await.map_err(|error| read_failed(&error))? {
            body.extend_from_slice(&piece);
            if body.len() as u64 > BODY_BYTES_MAX {
                return Ok(Lookup::Damaged);
            }
        }
        Ok(Lookup::Body(body))
    }

    async fn write(&self, key: &BodyKey, body: &[u8], mode: PutMode) -> Result<()> {
        // A client with write permission only cannot check for an existing object, but can still
        // store one.
        if mode == PutMode::Keep && self.exists(key).await == Ok(true) {
            return Ok(());
        }
        let (path, payload) = (path(key), PutPayload::from(body.to_vec()));
        let mode = match mode {
            PutMode::Keep => ObjectPutMode::Create,
            PutMode::Replace => ObjectPutMode::Overwrite,
        };
        match self.objects.put_opts(&path, payload.clone(), mode.into()).await {
            Ok(_) | Err(ObjectError::AlreadyExists { .. }) => Ok(()),
            // Some services cannot create an object conditionally. Overwriting it with the same
            // bytes is harmless.
            Err(ObjectError::NotImplemented { .. } | ObjectError::NotSupported { .. }) => {
                let overwritten = self.objects.put(&path, payload).await;
                overwritten.map(drop).map_err(|error| write_failed(&error))
            }
            Err(error) => Err(write_failed(&error)),
        }
    }
}

impl Backend for ObjectStoreBackend {
    fn contains(&self, keys: &[BodyKey]) -> Result<Vec<bool>> {
        self.for_each(keys.iter(), |key| self.exists(key))
    }

    fn get(&self, keys: &[BodyKey]) -> Result<Vec<Lookup>> {
        self.for_each(keys.iter(), |key| self.read(key))
    }

    fn put(&mut self, bodies: &[(BodyKey, &[u8])], mode: PutMode) -> Result<()> {
        self.for_each(bodies.iter(), |(key, body)| self.write(key, body, mode)).map(drop)
    }
}

/// Returns the path of an object. The objects are spread over folders, because file systems are
/// slow with one large folder.
fn path(key: &BodyKey) -> Path {
    let name = blake3::Hash::from_bytes(*key).to_hex();
    let (folder, file) = name.split_at(2);
    Path::from_iter([folder, file])
}

fn read_failed(error: &ObjectError) -> Error {
    Error::Io(error.to_string())
}

pub(super) fn write_failed(error: &ObjectError) -> Error {
    if matches!(error, ObjectError::PermissionDenied { .. }) {
        return Error::ReadOnly;
    }
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        match error.downcast_ref().map(io::Error::kind) {
            Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                return Error::ReadOnly;
            }
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => return Error::Full,
            _ => {}
        }
        cause = error.source();
    }
    read_failed(error)
}

/// Prints the name of the service, because an in-memory service would print its bodies.
impl fmt::Debug for ObjectStoreBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObjectStoreBackend").field(&format_args!("{}", self.objects)).finish()
    }
}
