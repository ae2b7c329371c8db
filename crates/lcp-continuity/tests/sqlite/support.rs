//! Stores in temporary folders, and content for them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lcp_continuity::store::{Lease, NewConversation, NewHandoff, NewMessage, SqliteStore, Store};
use tempfile::TempDir;

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);

/// Creates a folder, and returns it with the path of its store.
pub(crate) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sessions.db");
    (folder, path)
}

pub(crate) fn window(id: &str) -> NewConversation {
    NewConversation { id: id.into(), window_tokens: 200_000, output_reserve_tokens: 8_000 }
}

/// Begins a conversation, and returns its lease.
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

/// Creates a store with one message and one hand-off, and closes it.
pub(crate) fn closed(path: &Path) {
    let store = SqliteStore::open(path).expect("a new store");
    let lease = begun(&store, "a");
    store.append(&lease, &[message(b"a message")], None).expect("it is kept");
    store.commit(&lease, &handoff("h", b"a pack")).expect("it is kept");
}

/// Returns bytes that do not compress.
pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut noise);
    noise
}

/// Returns the names and bytes of the files in a folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let read = |entry: fs::DirEntry| {
        (entry.file_name().to_string_lossy().into(), fs::read(entry.path()).expect("a file"))
    };
    entries.map(read).collect()
}

/// Returns a command that runs a test of this binary in a separate process. The test finds `value`
/// in the variable [`CHILD`], and does nothing without that variable.
pub(crate) fn child(test: &str, value: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, value);
    command
}

/// The environment variable with the value for a test that [`child`] runs.
pub(crate) const CHILD: &str = "LCP_CONTINUITY_TEST_CHILD";
