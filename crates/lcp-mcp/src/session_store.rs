//! The session store, which is opened at its first use.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lcp_continuity::store::Store;

use lcp_app::config::Config;
use lcp_app::sessions::open_store;

use super::error::ToolResult;

/// A session store that is opened at its first use.
#[derive(Default)]
pub struct LazySessionStore {
    /// The given name of the store, if there is one.
    name: Option<String>,
    store: Mutex<Option<Arc<dyn Store>>>,
}

impl fmt::Debug for LazySessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazySessionStore")
    }
}

impl LazySessionStore {
    /// Creates a store with this name. Without a name, it is the store of the settings, or by
    /// default the store of the user. The store is not opened yet.
    #[must_use]
    pub fn new(name: Option<String>) -> Self {
        Self { name, store: Mutex::default() }
    }

    /// Opens the store if necessary, and calls `work` with it.
    ///
    /// Only one call runs at a time, because a call would release a lease that another call has
    /// taken.
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
