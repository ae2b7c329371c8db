//! Helpers for the conformance tests.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::store::{
    ConversationRecord, HandoffRecord, Lease, NewConversation, NewHandoff, NewMessage, Result,
    Store,
};

use super::Harness;

pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_secs(60);
pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns a span that is one second shorter.
pub(super) fn almost(span: Duration) -> Duration {
    span.saturating_sub(SECOND)
}

pub(super) fn window(id: &str) -> NewConversation {
    NewConversation { id: id.into(), window_tokens: 200_000, output_reserve_tokens: 8_000 }
}

pub(super) fn message(text: &str) -> NewMessage {
    NewMessage { body: text.into(), tokens: u32::try_from(text.len()).unwrap() }
}

/// Returns a hand-off whose pack contains its id.
pub(super) fn handoff(id: &str, previous: Option<&str>) -> NewHandoff {
    NewHandoff {
        id: id.into(),
        previous: previous.map(Into::into),
        messages: 0,
        pack: format!("pack of {id}").into_bytes(),
        status: None,
    }
}

/// Begins a conversation, and takes its lease for a minute.
pub(super) fn begun(harness: &dyn Harness, id: &str) -> (Arc<dyn Store>, Lease) {
    let store = harness.store();
    store.begin(&window(id)).unwrap();
    let lease = store.lease(id, "holder", MINUTE).unwrap();
    (store, lease)
}

pub(super) fn append(store: &dyn Store, lease: &Lease, texts: &[&str]) -> Result<u64> {
    let messages: Vec<_> = texts.iter().map(|text| message(text)).collect();
    store.append(lease, &messages, None)
}

/// Returns the texts of all messages, separated by spaces.
pub(super) fn message_texts(store: &dyn Store, conversation: &str) -> String {
    page(store, conversation, 0, u64::MAX)
}

pub(super) fn page(store: &dyn Store, conversation: &str, from: u64, limit: u64) -> String {
    let messages = store.messages(conversation, from, limit).unwrap();
    let texts: Vec<_> =
        messages.into_iter().map(|message| String::from_utf8(message.body).unwrap()).collect();
    texts.join(" ")
}

/// Commits a hand-off of a conversation, with a lease of a minute that is released afterwards.
#[track_caller]
pub(super) fn commit(
    store: &dyn Store,
    conversation: &str,
    id: &str,
    previous: Option<&str>,
) -> HandoffRecord {
    let lease = store.lease(conversation, "holder", MINUTE).unwrap();
    let record = store.commit(&lease, &handoff(id, previous)).unwrap();
    store.release(&lease).unwrap();
    record
}

/// Resumes a hand-off.
#[track_caller]
pub(super) fn resume(store: &dyn Store, handoff: &str, into: &str) -> ConversationRecord {
    let claim = store.claim(handoff, "claimant", MINUTE).unwrap();
    store.resume(&claim, &window(into)).unwrap()
}

/// Returns the code of the error.
#[track_caller]
pub(super) fn refused<T: Debug>(result: Result<T>) -> &'static str {
    result.unwrap_err().code()
}

/// Runs `work` in several threads at once, each with its own handle.
pub(super) fn at_once<T: Send>(
    harness: &dyn Harness,
    threads: usize,
    work: impl Fn(usize, &dyn Store) -> T + Sync,
) -> Vec<T> {
    let stores: Vec<_> = (0..threads).map(|_| harness.store()).collect();
    let start = std::sync::Barrier::new(threads);
    let (work, start) = (&work, &start);
    std::thread::scope(|scope| {
        let run = |(number, store): (usize, Arc<dyn Store>)| {
            scope.spawn(move || {
                start.wait();
                work(number, &*store)
            })
        };
        let running: Vec<_> = stores.into_iter().enumerate().map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
