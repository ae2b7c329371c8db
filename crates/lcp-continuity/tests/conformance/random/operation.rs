//! Random operations, and the parts of their answers that are compared.

use std::fmt::Debug;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::Timestamp;
use lcp_continuity::store::{
    Claim, ConversationRecord, Error, HandoffRecord, HandoffState, Lease, NewHandoff, Result, Store,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::conformance::support::{DAY, MINUTE, SECOND, handoff, message, window};

/// The number of an existing object, counted from the newest, which is 0.
type Recent = usize;

/// The number of an existing object, or `None` for a new one.
type Maybe = Option<Recent>;

type Text = &'static str;

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Advance(Duration),
    Begin(Maybe),
    Lease(Recent, Text, Duration),
    Renew(Recent, Duration),
    Release(Recent),
    Append(Recent, Vec<Text>, Option<Text>),
    NextEpoch(Recent, Option<Text>),
    SetWindow(Recent, u32, Option<Text>),
    Fork(Recent, u64, Maybe),
    Commit(Recent, Maybe, Option<Recent>, Option<Text>),
    Claim(Recent, Text, Duration),
    Resume(Recent, Maybe),
    Abandon(Recent),
    Messages(Recent, u64, u64),
    Expire,
    /// Takes the lease and appends.
    Say(Recent, Vec<Text>),
    /// Takes the lease and commits.
    Keep(Recent),
    /// All steps from taking the lease to resuming, which random operations seldom complete.
    HandOver(Recent, Option<Recent>),
}

pub(super) fn any_operation() -> impl Strategy<Value = Operation> {
    use Operation as O;
    let recent = || prop_oneof![6 => Just(0usize), 2 => Just(1usize), 2 => 2usize..6];
    let maybe = || prop_oneof![7 => Just(None), 1 => recent().prop_map(Some)];
    let name = || select(vec!["x", "x", "x", "y"]);
    let status = || option::of(select(vec!["first", "second"]));
    let texts = || vec(select(vec!["", "one", "two", "three"]), 1..4);
    let span = || select(vec![10 * SECOND, MINUTE, MINUTE, DAY]);
    let step = vec![SECOND, 10 * SECOND, MINUTE, 15 * DAY, 31 * DAY];
    prop_oneof![
        4 => select(step).prop_map(O::Advance),
        3 => maybe().prop_map(O::Begin),
        8 => (recent(), name(), span()).prop_map(|(a, b, c)| O::Lease(a, b, c)),
        2 => (recent(), span()).prop_map(|(a, b)| O::Renew(a, b)),
        1 => recent().prop_map(O::Release),
        8 => (recent(), texts(), status()).prop_map(|(a, b, c)| O::Append(a, b, c)),
        2 => (recent(), status()).prop_map(|(a, b)| O::NextEpoch(a, b)),
        2 => (recent(), select(vec![9_000, 10_000]), status())
            .prop_map(|(a, b, c)| O::SetWindow(a, b, c)),
        3 => (recent(), 0u64..5, maybe()).prop_map(|(a, b, c)| O::Fork(a, b, c)),
        8 => (recent(), maybe(), option::of(recent()), status())
            .prop_map(|(a, b, c, d)| O::Commit(a, b, c, d)),
        9 => (recent(), name(), span()).prop_map(|(a, b, c)| O::Claim(a, b, c)),
        9 => (recent(), maybe()).prop_map(|(a, b)| O::Resume(a, b)),
        1 => recent().prop_map(O::Abandon),
        2 => (recent(), 0u64..6, 0u64..4).prop_map(|(a, b, c)| O::Messages(a, b, c)),
        5 => Just(O::Expire),
        5 => (recent(), texts()).prop_map(|(a, b)| O::Say(a, b)),
        5 => recent().prop_map(O::Keep),
        3 => (recent(), option::of(recent())).prop_map(|(a, b)| O::HandOver(a, b)),
    ]
}

/// A store, with the ids passed to it, and the leases and claims it returned.
pub(super) struct Side {
    store: Arc<dyn Store>,
    pub(super) conversations: Vec<String>,
    pub(super) handoffs: Vec<String>,
    leases: Vec<Lease>,
    claims: Vec<Claim>,
}

impl Side {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let (conversations, handoffs) = (Vec::new(), Vec::new());
        Self { store, conversations, handoffs, leases: Vec::new(), claims: Vec::new() }
    }

    /// Runs an operation, and returns the parts of the answer in which all stores must agree.
    pub(super) fn answer(&mut self, operation: &Operation, now: Timestamp) -> String {
        let store = Arc::clone(&self.store);
        match operation {
            Operation::Advance(_) => String::new(),
            Operation::Begin(id) => {
                let id = maybe(&mut self.conversations, 'c', *id);
                describe(store.begin(&window(&id)).map(conversation))
            }
            Operation::Lease(id, holder, span) => {
                self.leased(store.lease(recent(&self.conversations, *id), holder, *span))
            }
            Operation::Renew(lease, span) => self.with_lease(*lease, |side, lease| {
                // Both errors are right for a conversation that was resumed.
                let renewed = store.renew(lease, *span).map_err(|error| match error {
                    Error::Continued { conversation, .. } => Error::LeaseLost(conversation),
                    other => other,
                });
                side.leased(renewed)
            }),
            Operation::Release(lease) => {
                self.with_lease(*lease, |_, lease| describe(store.release(lease)))
            }
            Operation::Append(lease, texts, status) => self.with_lease(*lease, |_, lease| {
                let messages: Vec<_> = texts.iter().map(|text| message(text)).collect();
                describe(store.append(lease, &messages, *status))
            }),
            Operation::NextEpoch(lease, status) => {
                self.with_lease(*lease, |side, lease| side.leased(store.next_epoch(lease, *status)))
            }
            Operation::SetWindow(lease, window, status) => self.with_lease(*lease, |_, lease| {
                describe(store.set_window(lease, *window, 1_000, *status))
            }),
            Operation::Fork(from, at, id) => {
                let from = recent(&self.conversations, *from).to_owned();
                let id = maybe(&mut self.conversations, 'c', *id);
                describe(store.fork(&from, *at, &id).map(conversation))
            }
            Operation::Commit(lease, id, previous, status) => {
                self.with_lease(*lease, |side, lease| {
                    let previous = previous.map(|id| recent(&side.handoffs, id).to_owned());
                    let id = maybe(&mut side.handoffs, 'h', *id);
                    let status = status.map(str::to_owned);
                    let new = NewHandoff { status, ..handoff(&id, previous.as_deref()) };
                    describe(store.commit(lease, &new).map(|record| handed(record, now)))
                })
            }
            Operation::Claim(id, claimant, span) => {
                let claim = store.claim(recent(&self.handoffs, *id), claimant, *span);
                self.claims.extend(claim.clone());
                describe(claim.map(|it| (handed(it.handoff, now), it.claimant, it.until)))
            }
            Operation::Resume(claim, id) => self.with_claim(*claim, |side, claim| {
                let id = maybe(&mut side.conversations, 'c', *id);
                describe(store.resume(claim, &window(&id)).map(conversation))
            }),
            Operation::Abandon(claim) => {
                self.with_claim(*claim, |_, claim| describe(store.abandon(claim)))
            }
            Operation::Messages(id, from, limit) => {
                describe(store.messages(recent(&self.conversations, *id), *from, *limit))
            }
            Operation::Expire => describe(store.expire()),
            Operation::Say(id, texts) => self.answers(
                &[Operation::Lease(*id, "x", MINUTE), Operation::Append(0, texts.clone(), None)],
                now,
            ),
            Operation::Keep(id) => self.answers(
                &[Operation::Lease(*id, "x", MINUTE), Operation::Commit(0, None, None, None)],
                now,
            ),
            Operation::HandOver(id, previous) => self.answers(
                &[
                    Operation::Lease(*id, "x", MINUTE),
                    Operation::Commit(0, None, *previous, None),
                    Operation::Claim(0, "x", MINUTE),
                    Operation::Resume(0, None),
                ],
                now,
            ),
        }
    }

    fn answers(&mut self, operations: &[Operation], now: Timestamp) -> String {
        operations.iter().map(|operation| self.answer(operation, now)).collect()
    }

    /// Returns everything that can be read from the store.
    pub(super) fn everything(&self, now: Timestamp) -> Vec<String> {
        let store = &self.store;
        let conversations = self.conversations.iter().flat_map(|id| {
            [
                describe(store.conversation(id).map(conversation)),
                describe(store.messages(id, 0, u64::MAX)),
                describe(store.latest(id)),
                describe(store.handoffs(id, 3).map(|of| listed(of, now))),
            ]
        });
        let handoffs = self.handoffs.iter().flat_map(|id| {
            let chain = store.chain(id);
            let chain = chain.map(|chain| chain.into_iter().map(|it| handed(it, now)));
            [
                describe(store.handoff(id).map(|record| handed(record, now))),
                describe(chain.map(Iterator::collect::<Vec<_>>)),
            ]
        });
        let all = store.conversations("", u64::MAX);
        let all = all.map(|all| all.into_iter().map(conversation).collect::<Vec<_>>());
        iter::once(describe(all)).chain(conversations).chain(handoffs).collect()
    }

    fn leased(&mut self, lease: Result<Lease>) -> String {
        self.leases.extend(lease.clone());
        // The distance between fences is not specified.
        describe(lease.map(|lease| Lease { fence: 0, ..lease }))
    }

    fn with_lease(
        &mut self,
        number: usize,
        ask: impl FnOnce(&mut Self, &Lease) -> String,
    ) -> String {
        match one(&self.leases, number).cloned() {
            Some(lease) => ask(self, &lease),
            None => String::new(),
        }
    }

    fn with_claim(
        &mut self,
        number: usize,
        ask: impl FnOnce(&mut Self, &Claim) -> String,
    ) -> String {
        match one(&self.claims, number).cloned() {
            Some(claim) => ask(self, &claim),
            None => String::new(),
        }
    }
}

fn one<T>(of: &[T], number: Recent) -> Option<&T> {
    of.iter().rev().cycle().nth(number)
}

fn recent(ids: &[String], number: Recent) -> &str {
    one(ids, number).map_or("unknown", |id| id)
}

/// Returns the id of an existing object, or a new id.
fn maybe(ids: &mut Vec<String>, kind: char, number: Maybe) -> String {
    if let Some(id) = number.and_then(|number| one(ids, number)) {
        return id.clone();
    }
    ids.push(format!("{kind}{}", ids.len()));
    ids[ids.len() - 1].clone()
}

#[expect(clippy::needless_pass_by_value, reason = "answers are made to be told")]
fn describe<T: Debug>(answer: Result<T>) -> String {
    format!("{answer:?}")
}

/// Ignores the last holder of a conversation that was continued elsewhere.
fn conversation(record: ConversationRecord) -> ConversationRecord {
    let holder = record.holder.filter(|_| record.continued_as.is_none());
    ConversationRecord { fence: 0, holder, ..record }
}

fn listed(records: Vec<HandoffRecord>, now: Timestamp) -> Vec<HandoffRecord> {
    records.into_iter().map(|record| handed(record, now)).collect()
}

/// Treats an expired claim like no claim, because stores may report either.
fn handed(record: HandoffRecord, now: Timestamp) -> HandoffRecord {
    let state = match record.state {
        HandoffState::Claimed { until, .. } if until <= now => HandoffState::Committed,
        other => other,
    };
    HandoffRecord { state, ..record }
}
