//! Stores of every kind, and bodies to put into them.

#[cfg(feature = "content-sqlite")]
use std::path::Path;

#[cfg(feature = "object-store")]
use lcp_store::content::ObjectStoreBackend;
use lcp_store::content::{Backend, BatchStore, ContentAddressedStore, MemoryBackend, TenantKey};
#[cfg(feature = "content-sqlite")]
use lcp_store::content::{Result, SqliteBackend};
#[cfg(feature = "content-sqlite")]
use lcp_store::sqlite::Options;
use lcp_types::ContentHash;
use tempfile::TempDir;

/// A store to be tested.
pub(crate) struct Tested {
    pub(crate) kind: &'static str,
    pub(crate) store: Box<dyn BatchStore>,
    /// Where it is, if it is anywhere.
    _folder: Option<TempDir>,
}

/// An empty store of every kind, with this key or none.
pub(crate) fn every_store(key: Option<[u8; 32]>) -> Vec<Tested> {
    #[cfg_attr(not(any(feature = "content-sqlite", feature = "object-store")), allow(unused_mut))]
    let mut all =
        vec![tested("memory", ContentAddressedStore::new(MemoryBackend::default()), key, None)];
    #[cfg(feature = "content-sqlite")]
    {
        let folder = folder();
        let store = quick_sqlite(&folder.path().join("bodies.db"));
        all.push(tested("sqlite", store, key, Some(folder)));
    }
    #[cfg(feature = "object-store")]
    {
        let memory = object_store::memory::InMemory::new();
        all.push(tested("objects in memory", shared(memory), key, None));
        let folder = folder();
        all.push(tested("objects in files", shared(local(&folder)), key, Some(folder)));
    }
    all
}

fn tested<B: Backend + 'static>(
    kind: &'static str,
    store: ContentAddressedStore<B>,
    key: Option<[u8; 32]>,
    folder: Option<TempDir>,
) -> Tested {
    let store: Box<dyn BatchStore> = match key {
        Some(key) => Box::new(store.with_tenant(TenantKey::new(key))),
        None => Box::new(store),
    };
    Tested { kind, store, _folder: folder }
}

#[cfg(any(feature = "content-sqlite", feature = "object-store"))]
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A store that does not wait for the disk.
#[cfg(feature = "content-sqlite")]
pub(crate) fn quick_sqlite(path: &Path) -> SqliteStore {
    let options = Options { durable: false, ..Options::default() };
    open_sqlite_with(path, &options).expect("a new store")
}

#[cfg(feature = "content-sqlite")]
pub(crate) type SqliteStore = ContentAddressedStore<SqliteBackend>;

#[cfg(feature = "content-sqlite")]
pub(crate) fn open_sqlite(path: impl AsRef<Path>) -> Result<SqliteStore> {
    SqliteBackend::open(path).map(ContentAddressedStore::new)
}

#[cfg(feature = "content-sqlite")]
pub(crate) fn open_sqlite_with(path: impl AsRef<Path>, options: &Options) -> Result<SqliteStore> {
    SqliteBackend::open_with(path, options).map(ContentAddressedStore::new)
}

#[cfg(feature = "content-sqlite")]
pub(crate) fn open_sqlite_read_only(path: impl AsRef<Path>) -> Result<SqliteStore> {
    SqliteBackend::open_read_only(path).map(ContentAddressedStore::new)
}

#[cfg(feature = "object-store")]
pub(crate) fn shared(
    objects: impl object_store::ObjectStore,
) -> ContentAddressedStore<ObjectStoreBackend> {
    let backend = ObjectStoreBackend::new(std::sync::Arc::new(objects)).expect("a runtime");
    ContentAddressedStore::new(backend)
}

#[cfg(feature = "object-store")]
pub(crate) fn local(folder: &TempDir) -> object_store::local::LocalFileSystem {
    object_store::local::LocalFileSystem::new_with_prefix(folder.path()).expect("a folder")
}

pub(crate) fn hash(body: &[u8]) -> ContentHash {
    *blake3::hash(body).as_bytes()
}

/// Bytes that do not compress.
pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut noise);
    noise
}

/// The names and bytes of the files of a folder.
#[cfg(feature = "content-sqlite")]
pub(crate) fn files(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let read = |entry: std::fs::DirEntry| {
        (entry.file_name().to_string_lossy().into(), std::fs::read(entry.path()).expect("a file"))
    };
    entries.map(read).collect()
}

/// A test of this binary, to be run by a process of its own. It finds `value` in
/// the variable [`CHILD`], without which it does nothing.
#[cfg(feature = "content-sqlite")]
pub(crate) fn child(test: &str, value: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, value);
    command
}

/// What a test run by [`child`] is told.
#[cfg(feature = "content-sqlite")]
pub(crate) const CHILD: &str = "LCP_STORE_TEST_CHILD";
