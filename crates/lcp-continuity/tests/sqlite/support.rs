//! Stores in temporary folders, and what is put into them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lcp_continuity::store::{Lease, NewConversation, NewHandoff, NewMessage, SqliteStore, Store};
use tempfile::TempDir;

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);

/// A folder, and where the store in it is.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sessions.db");
    (folder, path)
}

pub(crate) fn window(id: &str) -> NewConversation {
    NewConversation { id: id.into(), window_tokens: 200_000, output_reserve_tokens: 8_000 }
}

/// The lease of a conversation that has begun.
pub(crate) fn begun(store: &SqliteStore, id: &str) -> Lease {
    store.begin(&window(id)).expect("a conversation");
    store.lease(id, "holder", HOUR).expect("a lease")
}

pub(crate) fn message(body: &[u8]) -> NewMessage {
    NewMessage { body: body.to_vec(), tokens: 1 }
}

pub(crate) fn handoff(id: &str, pack: &[u8]) -> NewHandoff {
    NewHandoff { id: id.into(), previous: None, messages: 1, pack: pack.to_vec(), status: None }
}

/// A store with one message and one hand-off, closed.
pub(crate) fn closed(path: &Path) {
    let store = SqliteStore::open(path).expect("a new store");
    let lease = begun(&store, "a");
    store.append(&lease, &[message(b"a message")], None).expect("it is kept");
    store.commit(&lease, &handoff("h", b"a pack")).expect("it is kept");
}

/// Bytes that do not compress.
pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut noise);
    noise
}

/// The names and bytes of the files of a folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let read = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into(), fs::read(entry.path()).expect("a file"))
    };
    entries.map(read).collect()
}

/// A test of this binary, to be run by a process of its own. It finds `value` in
/// the variable [`CHILD`], without which it does nothing.
pub(crate) fn child(test: &str, value: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, value);
    command
}

/// What a test run by [`child`] is told.
pub(crate) const CHILD: &str = "LCP_CONTINUITY_TEST_CHILD";
