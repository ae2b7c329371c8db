//! The behaviour that all stores share.

use std::path::PathBuf;
use std::sync::Arc;

use lcp_continuity::store::{SqliteOptions, SqliteStore, Store};
use lcp_continuity::{Clock, ManualClock, Timestamp};
use tempfile::TempDir;

use crate::conformance::Harness;

struct File {
    _folder: TempDir,
    path: PathBuf,
    clock: Arc<ManualClock>,
}

impl Harness for File {
    fn store(&self) -> Arc<dyn Store> {
        let clock: Arc<dyn Clock> = self.clock.clone();
        let options = SqliteOptions { clock, ..SqliteOptions::default() };
        Arc::new(SqliteStore::open_with(&self.path, &options).expect("a store"))
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn fresh(&self) -> Box<dyn Harness> {
        Box::new(file())
    }
}

fn file() -> File {
    let (folder, path) = crate::support::folder();
    let clock = Arc::new(ManualClock::new(Timestamp(1_700_000_000_000)));
    File { _folder: folder, path, clock }
}

#[expect(clippy::unnecessary_wraps, reason = "other stores may not be there to test")]
fn harness() -> Option<Box<dyn Harness>> {
    Some(Box::new(file()))
}

crate::conformance::conformance!(harness);
