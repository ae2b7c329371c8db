//! The store of sessions, opened when it is first needed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use lcp_continuity::store::Store;

use crate::mcp::desk::{Desk, counting};
use crate::mcp::fault::Outcome;
use lcp_app::Result;
use lcp_app::interrupt;
use lcp_app::sessions::{HandoffSettings, Sessions, StoreOptions};

/// The store of sessions.
#[derive(Default)]
pub struct Sittings {
    place: StoreOptions,
    /// Whether the `lcp.toml` was named.
    is_named: bool,
    /// One call at a time: what one takes of the store, another would give back.
    opened: Mutex<Option<Arc<dyn Store>>>,
}

impl fmt::Debug for Sittings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sittings")
    }
}

/// How a call works with sessions.
#[derive(Debug, Default)]
pub(super) struct Ways {
    pub(super) encoding: Option<String>,
    pub(super) model: Option<String>,
    pub(super) making: HandoffSettings,
    /// Whether a store that is not there is made.
    pub(super) may_begin: bool,
}

impl Sittings {
    /// Sessions there; `is_named`: the `lcp.toml` that may say where was named.
    #[must_use]
    pub fn new(place: StoreOptions, is_named: bool) -> Self {
        Self { place, is_named, opened: Mutex::default() }
    }
}

/// Works with the sessions of a server.
pub(super) fn work<T>(
    desk: &Desk,
    ways: Ways,
    work: impl FnOnce(&Sessions) -> Result<T>,
) -> Outcome<T> {
    let counting = counting(ways.encoding, ways.model)?;
    let config = &desk.setup.config;
    let (model, _) = counting.model(config, true)?;
    let counter = counting.counter(config, model.as_ref(), false, &desk.quiet)?;
    let Sittings { place, is_named, opened } = &desk.setup.sittings;
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    let store = match &*opened {
        Some(store) => Arc::clone(store),
        None => Arc::clone(opened.insert(place.open(config, *is_named, ways.may_begin)?)),
    };
    let making = ways.making.config(&config.continuity);
    let sessions = Sessions::new(store, Arc::clone(&counter.estimator), making, None);
    let held = sessions.held().clone();
    let _hook = interrupt::on_interrupt(move || held.give_back());
    Ok(work(&sessions)?)
}
