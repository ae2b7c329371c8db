//! The store of sessions, opened when it is first needed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lcp_continuity::store::Store;

use lcp_app::config::Config;
use lcp_app::sessions::open_store;

use super::error::ToolResult;

/// The store of sessions.
#[derive(Default)]
pub struct LazySessionStore {
    /// The name of the store, if it was given.
    name: Option<String>,
    store: Mutex<Option<Arc<dyn Store>>>,
}

impl fmt::Debug for LazySessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazySessionStore")
    }
}

impl LazySessionStore {
    /// Returns the store of this name, else that of the settings, or the user's.
    #[must_use]
    pub fn new(name: Option<String>) -> Self {
        Self { name, store: Mutex::default() }
    }

    /// Opens the store if it is not open, and calls `work` with it, one call at a time: a lease
    /// that one call takes of the store, another would release.
    pub(crate) fn with_store<T>(
        &self,
        config: &Config,
        may_create: bool,
        work: impl FnOnce(&Arc<dyn Store>) -> ToolResult<T>,
    ) -> ToolResult<T> {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        match &*store {
            Some(store) => work(store),
            None => work(store.insert(open_store(self.name.as_deref(), config, may_create)?)),
        }
    }
}
