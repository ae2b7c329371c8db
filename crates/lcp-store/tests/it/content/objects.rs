//! Object stores: runtimes, requests at a time, what some of them cannot do.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use lcp_store::content::{BatchStore, Error};
use lcp_types::ContentStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as ObjectError, GetOptions, GetResult, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};
use tokio::runtime::{Builder, Runtime};

use crate::content::support::{hash, shared};

fn runtime(mut builder: Builder) -> Runtime {
    builder.enable_all().build().expect("a runtime")
}

/// Puts and gets as a task of this runtime.
fn use_within(runtime: &Runtime) {
    runtime.block_on(async {
        let mut store = shared(InMemory::new());
        let hashes = store.put_many(&[b"body"]).expect("memory");
        assert_eq!(store.get_many(&hashes), Ok(vec![Some(b"body".to_vec())]));
    });
}

#[test]
fn object_store_works_inside_any_runtime() {
    use_within(&runtime(Builder::new_current_thread()));
    use_within(&runtime(Builder::new_multi_thread()));
}

#[test]
fn concurrent_stores_share_one_object_store() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    is_shared(&shared(InMemory::new()));

    let objects: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
    let stores: Vec<_> = (0..4).map(|_| shared(Arc::clone(&objects))).collect();
    std::thread::scope(|scope| {
        for (number, mut store) in (0u8..).zip(stores) {
            scope.spawn(move || {
                let bodies: Vec<_> = (0..50).map(|body| [body, number % 2]).collect();
                let bodies: Vec<_> = bodies.iter().map(|body| &body[..]).collect();
                store.put_many(&bodies).expect("memory");
            });
        }
    });
    let hashes: Vec<_> = (0..50).flat_map(|body| [hash(&[body, 0]), hash(&[body, 1])]).collect();
    let store = shared(objects);
    assert_eq!(store.has_many(&hashes), Ok(vec![true; 100]));
    assert!(store.get_many(&hashes).is_ok());
}

#[test]
fn at_most_sixteen_requests_run_concurrently() {
    let odd = Arc::new(Odd::default());
    let mut store = shared(Arc::clone(&odd) as Arc<dyn ObjectStore>);
    let bodies: Vec<_> = (0..100u8).map(|body| [body]).collect();
    let bodies: Vec<_> = bodies.iter().map(|body| &body[..]).collect();
    let hashes = store.put_many(&bodies).expect("memory");
    assert_eq!(odd.most.swap(0, Ordering::SeqCst), 16);
    store.get_many(&hashes).expect("memory");
    assert_eq!(odd.most.swap(0, Ordering::SeqCst), 16);
    store.has_many(&hashes).expect("memory");
    assert_eq!(odd.most.load(Ordering::SeqCst), 16);
}

#[test]
fn service_without_conditional_put_is_supported() {
    let mut store = shared(Odd::default());
    let hashes = store.put_many(&[b"body"]).expect("it overwrites");
    assert_eq!(store.put_many(&[b"body"]), Ok(hashes.clone()));
    assert_eq!(store.get_many(&hashes), Ok(vec![Some(b"body".to_vec())]));
}

#[test]
fn stored_body_is_not_sent_again() {
    let odd = Arc::new(Odd::default());
    let mut store = shared(Arc::clone(&odd) as Arc<dyn ObjectStore>);
    let sent = || std::mem::take(&mut *odd.sent.lock().expect("no panic"));
    let hashes = store.put_many(&[b"body"]).expect("memory");
    assert_eq!(sent(), [PutMode::Create, PutMode::Overwrite], "it cannot do the first");
    assert_eq!(store.put_many(&[b"body"]), Ok(hashes.clone()));
    store.put(hashes[0], b"body").expect("it is there");
    assert_eq!(sent(), []);
    store.put_many(&[b"body", b"another"]).expect("memory");
    assert_eq!(sent(), [PutMode::Create, PutMode::Overwrite], "of the other");
    store.repair_many(&[b"body"]).expect("memory");
    assert_eq!(sent(), [PutMode::Overwrite]);
}

/// Some services do not tell who may only write what is there.
#[test]
fn put_works_when_existence_checks_fail() {
    let odd = Arc::new(Odd { silent: true, ..Odd::default() });
    let mut store = shared(Arc::clone(&odd) as Arc<dyn ObjectStore>);
    let hashes = store.put_many(&[b"body"]).expect("it can be written");
    assert!(matches!(store.has_many(&hashes), Err(Error::Io(_))));
    assert_eq!(odd.sent.lock().expect("no panic").len(), 2);
}

#[test]
fn object_store_debug_hides_bodies() {
    let mut store = shared(InMemory::new());
    store.put_many(&[b"secret"]).expect("memory");
    assert_eq!(
        format!("{store:?}"),
        "ContentAddressedStore { backend: ObjectStoreBackend(InMemory), tenant: None }"
    );
}

/// Counts requests, and cannot put only where there is nothing.
#[derive(Debug, Default)]
struct Odd {
    inner: InMemory,
    /// Whether it refuses to say what is there.
    silent: bool,
    /// Bodies that were sent, by how they were to be put.
    sent: Mutex<Vec<PutMode>>,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Odd {
    async fn counted<T>(&self, request: impl Future<Output = T>) -> T {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        // The others get their turn before this one is done.
        tokio::task::yield_now().await;
        let result = request.await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Odd")
    }
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl ObjectStore for Odd {
    fn put_opts<'s, 'p, 'f>(
        &'s self,
        path: &'p Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Boxed<'f, PutResult>
    where
        's: 'f,
        'p: 'f,
    {
        self.sent.lock().expect("no panic").push(options.mode.clone());
        if options.mode == PutMode::Create {
            let (operation, implementer) = ("put if absent".into(), "Odd".into());
            let error = ObjectError::NotImplemented { operation, implementer };
            return Box::pin(async move { Err(error) });
        }
        Box::pin(self.counted(self.inner.put_opts(path, payload, options)))
    }

    fn put_multipart_opts<'s, 'p, 'f>(
        &'s self,
        path: &'p Path,
        options: PutMultipartOptions,
    ) -> Boxed<'f, Box<dyn MultipartUpload>>
    where
        's: 'f,
        'p: 'f,
    {
        self.inner.put_multipart_opts(path, options)
    }

    fn get_opts<'s, 'p, 'f>(&'s self, path: &'p Path, options: GetOptions) -> Boxed<'f, GetResult>
    where
        's: 'f,
        'p: 'f,
    {
        if self.silent {
            let (path, source) = (path.to_string(), "silent".into());
            return Box::pin(async { Err(ObjectError::PermissionDenied { path, source }) });
        }
        Box::pin(self.counted(self.inner.get_opts(path, options)))
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    fn list_with_delimiter<'s, 'p, 'f>(&'s self, prefix: Option<&'p Path>) -> Boxed<'f, ListResult>
    where
        's: 'f,
        'p: 'f,
    {
        self.inner.list_with_delimiter(prefix)
    }

    fn copy_opts<'s, 'p, 't, 'f>(
        &'s self,
        from: &'p Path,
        to: &'t Path,
        options: CopyOptions,
    ) -> Boxed<'f, ()>
    where
        's: 'f,
        'p: 'f,
        't: 'f,
    {
        self.inner.copy_opts(from, to, options)
    }
}
