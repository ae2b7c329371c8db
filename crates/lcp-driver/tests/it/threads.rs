//! Counting on all processors: plans are the same on any number of threads.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use lcp_driver::report::to_json;
use lcp_driver::{DefaultDriver, DriverConfig, IndexCosts, Objective, OutputMode, ValueModel};
use lcp_tokens::{HeuristicEstimator, TokenEstimator};
use lcp_types::{Block, Priority, Role};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::packs::{O200K, any_config, any_pack, bare_file, every_type, file, priority, tag};

/// Pools of 1, 2 and 8 threads.
static POOLS: LazyLock<[ThreadPool; 3]> = LazyLock::new(|| {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
    [1, 2, 8].map(|threads| pool(threads).expect("the system has threads"))
});

/// Returns more blocks than are counted at once, of all types and of different lengths.
fn long_pack() -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    while blocks.len() < 6000 {
        let at = blocks.len();
        blocks.extend(every_type());
        for turn in 0..40 {
            blocks.push(Block::conversation(Role::User, format!("message {at} {turn}")));
        }
        blocks.push(file(&format!("{at}.rs"), at % 300));
        blocks.push(tag(blocks.len() as u64 - 1, &format!("rank=0.{at}")));
        blocks.push(bare_file(&format!("{at}_bare.rs"), at % 41));
        blocks.push(priority(blocks.len() as u64 - 1, Priority::ALL[at % 5]));
    }
    blocks
}

fn bytes(
    estimator: impl TokenEstimator + 'static,
    blocks: &[Block<'_>],
    config: &DriverConfig,
) -> String {
    match DefaultDriver::new(estimator).run(blocks, config) {
        Ok(rendered) => to_json(&rendered.plan) + &rendered.text,
        Err(error) => error.to_string(),
    }
}

#[test]
fn plan_of_a_long_pack_is_equal_for_any_thread_count() {
    let blocks = long_pack();
    for (at, mode) in OutputMode::ALL.into_iter().enumerate() {
        let objective =
            if at == 1 { Objective::Value(ValueModel::default()) } else { Objective::Strict };
        let token_budget = Some(20_000);
        let config = DriverConfig { mode, objective, token_budget, ..DriverConfig::default() };
        let [one, others @ ..] =
            POOLS.each_ref().map(|pool| pool.install(|| bytes(O200K, &blocks, &config)));
        assert!(others.iter().all(|other| *other == one), "{mode:?}");
        let [one, others @ ..] = POOLS
            .each_ref()
            .map(|pool| pool.install(|| bytes(HeuristicEstimator, &blocks, &config)));
        assert!(others.iter().all(|other| *other == one), "{mode:?}, estimated");
    }
}

#[test]
fn index_costs_are_equal_for_any_thread_count() {
    let blocks = long_pack();
    let start = blocks.len() / 2;
    let old = IndexCosts::new(&O200K).count(&blocks[..start]).expect("counts that add up");
    let mut seen = 0;
    let all = IndexCosts::new(&O200K).progress(&mut || seen += 1).count(&blocks);
    assert_eq!(seen, blocks.len());
    for pool in POOLS.each_ref() {
        assert_eq!(pool.install(|| IndexCosts::new(&O200K).count(&blocks)), all);
        assert_eq!(
            pool.install(|| IndexCosts::new(&O200K).starting_at(start, &old).count(&blocks)),
            all
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Plans any pack with a file so large that other threads are used.
    #[test]
    fn plan_of_any_pack_is_equal_for_any_thread_count(blocks in any_pack(), config in any_config(), at in any::<u16>()) {
        let mut blocks = blocks;
        // The file is added at the end, because annotations refer to blocks by index.
        blocks.push(bare_file(&format!("{at}.rs"), 2000));
        let [one, two, eight] = POOLS
            .each_ref()
            .map(|pool| pool.install(|| bytes(O200K, &blocks, &config)));
        prop_assert_eq!(&two, &one);
        prop_assert_eq!(&eight, &one);
    }
}

/// A tokenizer that waits until two threads count, or for a long time.
#[derive(Default)]
struct Together {
    threads: Mutex<HashSet<ThreadId>>,
    more: Condvar,
}

impl TokenEstimator for Together {
    fn estimate(&self, text: &str) -> u32 {
        if text.contains("compute") {
            let mut threads = self.threads.lock().expect("nobody panics");
            threads.insert(thread::current().id());
            self.more.notify_all();
            let wait = Duration::from_secs(20);
            let alone = |threads: &mut HashSet<ThreadId>| threads.len() < 2;
            drop(self.more.wait_timeout_while(threads, wait, alone).expect("nobody panics"));
        }
        u32::try_from(text.len()).expect("a short text")
    }
}

#[test]
fn tokens_are_counted_on_several_threads() {
    let blocks: Vec<_> = (0..40).map(|i| bare_file(&format!("{i}.rs"), 50)).collect();
    let estimator = Arc::new(Together::default());
    let driver = DefaultDriver::new(Arc::clone(&estimator));
    POOLS[1].install(|| driver.run(&blocks, &DriverConfig::default())).expect("no budget");
    assert_eq!(estimator.threads.lock().expect("nobody panics").len(), 2);
}
