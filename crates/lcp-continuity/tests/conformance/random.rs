//! Every store gives the same answers as the in-memory store, for any sequence of operations.

mod laws;
mod operation;

use std::iter;
use std::sync::Arc;

use lcp_continuity::store::MemoryStore;
use lcp_continuity::{Clock, ManualClock};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use self::operation::{Operation, Side, any_operation};
use super::Harness;

pub(crate) fn random_operations_match_the_memory_store(harness: &dyn Harness) {
    let config = Config {
        cases: harness.random_cases(),
        max_shrink_iters: 2_000,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let operations = vec(any_operation(), 20..100);
    TestRunner::new_with_rng(config, rng)
        .run(&operations, |operations| compare(&*harness.fresh(), &operations))
        .unwrap_or_else(|failure| panic!("{failure}"));
}

fn compare(harness: &dyn Harness, operations: &[Operation]) -> Result<(), TestCaseError> {
    let clock = Arc::new(ManualClock::new(harness.clock().now()));
    let memory = MemoryStore::new().with_clock(clock.clone());
    let mut memory = Side::new(Arc::new(memory));
    let mut tested = Side::new(harness.store());
    for operation in iter::once(&Operation::Begin(None)).chain(operations) {
        if let Operation::Advance(span) = operation {
            harness.clock().advance(*span);
            clock.advance(*span);
        } else {
            let now = clock.now();
            let (expected, found) = (memory.answer(operation, now), tested.answer(operation, now));
            prop_assert_eq!(expected, found, "{:?}", operation);
        }
    }
    prop_assert_eq!(memory.everything(clock.now()), tested.everything(clock.now()));
    laws::hold(&*harness.store(), &tested.conversations, &tested.handoffs)
}
