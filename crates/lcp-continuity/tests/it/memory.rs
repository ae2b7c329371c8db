//! The in-memory store.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use lcp_continuity::ManualClock;
use lcp_continuity::store::{MemoryStore, NewConversation, NewMessage, Store};

use crate::conformance::{Harness, conformance};

struct Memory {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
}

impl Harness for Memory {
    fn store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn fresh(&self) -> Box<dyn Harness> {
        Box::new(memory())
    }
}

fn memory() -> Memory {
    let clock = Arc::new(ManualClock::default());
    let store = Arc::new(MemoryStore::new().with_clock(clock.clone()));
    Memory { store, clock }
}

#[expect(clippy::unnecessary_wraps, reason = "other stores may not be there")]
fn harness() -> Option<Box<dyn Harness>> {
    Some(Box::new(memory()))
}

conformance!(harness);

#[test]
fn debug_shows_counts_but_no_message_text() {
    let Memory { store, .. } = memory();
    let new = NewConversation { id: "a".into(), window_tokens: 1, output_reserve_tokens: 0 };
    store.begin(&new).unwrap();
    let lease = store.lease("a", "holder", Duration::from_secs(1)).unwrap();
    let message = NewMessage { body: b"secret".to_vec(), tokens: 1 };
    store.append(&lease, &[message.clone(), message], Some("secret")).unwrap();
    expect![[r"MemoryStore { conversations: 1, handoffs: 0, bodies: 1, expiry: 2592000s, clock: ManualClock(0), .. }"]]
        .assert_eq(&format!("{store:?}"));
}

#[test]
fn with_expiry_sets_the_expiry() {
    let clock = Arc::new(ManualClock::default());
    let hour = Duration::from_secs(3600);
    let store = MemoryStore::new().with_clock(clock.clone()).with_expiry(hour);
    let new = NewConversation { id: "a".into(), window_tokens: 1, output_reserve_tokens: 0 };
    store.begin(&new).unwrap();
    assert_eq!(store.expire().unwrap().conversations, 0);
    clock.advance(hour);
    assert_eq!(store.expire().unwrap().conversations, 1);
}
