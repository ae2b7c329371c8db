//! Services for tests.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use lcp_continuity::store::{MemoryStore, NewConversation, Store};
use lcp_continuity::{
    ContinuityConfig, ContinuityEvent, ManualClock, Message, SessionContinuityService, Timestamp,
};
use lcp_tokens::TokenEstimator;

/// A tokenizer with one token per word, so that tests can choose counts.
#[derive(Debug)]
pub(crate) struct Words;

impl TokenEstimator for Words {
    fn estimate(&self, text: &str) -> u32 {
        let words = text.split_whitespace().count().max(usize::from(!text.is_empty()));
        u32::try_from(words).unwrap()
    }
}

/// Returns a text of `count` words.
pub(crate) fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

/// A service with an in-memory store.
pub(crate) struct Fixture {
    pub(crate) service: SessionContinuityService,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) events: Arc<Mutex<Vec<ContinuityEvent>>>,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::with(ContinuityConfig::default())
    }

    pub(crate) fn with(config: ContinuityConfig) -> Self {
        let clock = Arc::new(ManualClock::new(Timestamp(1_000_000)));
        let store: Arc<dyn Store> =
            Arc::new(MemoryStore::new().with_clock(Arc::clone(&clock) as _));
        Self::on(store, clock, config)
    }

    /// Returns a service that looks like another process to the store.
    pub(crate) fn another(&self, holder: &str) -> Self {
        let config = ContinuityConfig { holder: holder.into(), ..self.service.config().clone() };
        self.configured(config)
    }

    /// Returns a service with the same store and another configuration.
    pub(crate) fn configured(&self, config: ContinuityConfig) -> Self {
        Self::on(Arc::clone(&self.store), Arc::clone(&self.clock), config)
    }

    fn on(store: Arc<dyn Store>, clock: Arc<ManualClock>, config: ContinuityConfig) -> Self {
        let events = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&events);
        let service = SessionContinuityService::new(Arc::clone(&store), Arc::new(Words))
            .with_config(config)
            .with_clock(Arc::clone(&clock) as _)
            .on_event(move |event| told.lock().unwrap().push(event.clone()));
        Self { service, store, clock, events }
    }

    pub(crate) fn open(&self, id: &str, window_tokens: u32) {
        self.service.open(&conversation(id, window_tokens)).unwrap();
    }

    pub(crate) fn say(&self, id: &str, message: Message) {
        self.service.record_message(id, message).unwrap();
    }

    pub(crate) fn events(&self) -> Vec<ContinuityEvent> {
        self.events.lock().unwrap().clone()
    }

    pub(crate) fn wait(&self, span: Duration) {
        self.clock.advance(span);
    }
}

pub(crate) fn conversation(id: &str, window_tokens: u32) -> NewConversation {
    NewConversation { id: id.into(), window_tokens, output_reserve_tokens: 0 }
}

/// A plan of seven steps, one of them done.
pub(crate) const PLAN: &str = "Plan: move the parser\n\n- [x] write the tests\n- [ ] split lexer.rs\n\
                               - [ ] split parser.rs\n- [ ] move the errors\n- [ ] update the docs\n\
                               - [ ] run the benchmarks\n- [ ] open the pull request\n";
