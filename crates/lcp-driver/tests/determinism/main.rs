//! Plans are deterministic: the same bytes on any number of threads and in any build. This is a
//! separate test program because `ci` also builds it with the release profile.
#![cfg(all(feature = "serde", feature = "report"))]

#[path = "../it/packs.rs"]
#[allow(dead_code, reason = "a module of the other tests, of which less is needed here")]
mod packs;

use std::sync::Arc;

use expect_test::expect;
use lcp_driver::prompt_cache::StableOptions;
use lcp_driver::report::to_json;
use lcp_driver::shares::Shares;
use lcp_driver::{DefaultDriver, DriverConfig, Objective, OutputMode, ValueModel};
use lcp_types::{Block, Priority, Role, Status};

use packs::{O200K, bare_file, every_type, file, priority, source, tag};

/// Returns a history with every property that affects a plan.
fn history() -> Vec<Block<'static>> {
    let mut blocks = vec![Block::conversation(Role::System, "Be brief.")];
    for turn in 0..50_usize {
        let (call, path) = (format!("call_{turn}"), format!("src/file_{turn}.rs"));
        let reading = format!("Reading {path}.");
        blocks.push(Block::conversation(Role::User, format!("What does {path} do?")));
        blocks.push(Block::conversation_with_call(Role::Assistant, reading, call.clone()));
        blocks.push(Block::tool_result("read", Status::Ok, source(turn * 11 % 23)));
        let result = blocks.len() as u64 - 1;
        blocks.push(tag(result, &format!("tool_call_id={call}")));
        blocks.push(file(&path, 3 + turn * 7 % 31));
        let read = blocks.len() as u64 - 1;
        blocks.push(priority(read, Priority::ALL[turn % Priority::ALL.len()]));
        blocks.push(tag(read, &format!("rank=0.{}", turn * 13 % 29)));
        if turn % 17 == 3 {
            blocks.push(tag(result, "pinned"));
        }
    }
    blocks
}

fn packs() -> Vec<Vec<Block<'static>>> {
    let files = (0..40).map(|i| bare_file(&format!("{i}.rs"), 1 + i * 37 % 41));
    vec![Vec::new(), every_type(), files.collect(), history()]
}

/// Returns configurations of every mode and objective, with and without excerpts and shares.
fn configs() -> Vec<DriverConfig> {
    let mut configs = Vec::new();
    for (at, mode) in OutputMode::ALL.into_iter().enumerate() {
        for objective in [Objective::Strict, Objective::Value(ValueModel::default())] {
            for budget in [90, 700, 6_000] {
                configs.push(DriverConfig {
                    mode,
                    objective,
                    fill: at > 0,
                    shares: (at > 1).then(Shares::agent),
                    token_budget: Some(budget),
                    ..DriverConfig::default()
                });
            }
        }
    }
    configs
}

/// Returns all bytes of a plan, and of the plans of a session of five turns, in which the pack
/// grows.
fn plan_bytes(driver: &DefaultDriver, blocks: &[Block<'_>], config: &DriverConfig) -> Vec<u8> {
    let afresh = driver.run(blocks, config).unwrap();
    let mut bytes = to_json(&afresh.plan).into_bytes();
    bytes.extend(afresh.text.bytes());
    let mut stable = StableOptions::default();
    for turn in 1..=5 {
        let grown = &blocks[..blocks.len() * turn / 5];
        let config = DriverConfig { stable: Some(stable.clone()), ..config.clone() };
        let rendered = driver.run(grown, &config).unwrap();
        bytes.extend(to_json(&rendered.plan).bytes());
        bytes.extend(rendered.text.bytes());
        if let Some(used) = rendered.plan.stable {
            bytes.extend(used.next_plan.to_json().bytes());
            stable.previous = Some(Arc::new(used.next_plan));
        }
    }
    bytes
}

/// Returns a hash of all plans of a pack.
fn digest(driver: &DefaultDriver, blocks: &[Block<'_>], configs: &[DriverConfig]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for config in configs {
        hasher.update(&plan_bytes(driver, blocks, config));
    }
    hasher.finalize()
}

#[test]
fn threads_sharing_a_driver_produce_equal_plans() {
    let (driver, packs, configs) = (DefaultDriver::new(O200K), packs(), configs());
    let work: Vec<_> =
        packs.iter().flat_map(|pack| configs.iter().map(move |c| (pack, c))).collect();
    let alone: Vec<_> = work.iter().map(|(pack, c)| plan_bytes(&driver, pack, c)).collect();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (driver, work, alone) = (&driver, &work, &alone);
            scope.spawn(move || {
                // Each thread starts at another place, and does a part that overlaps with those of
                // others.
                for at in (0..work.len()).skip(thread % 4).step_by(4) {
                    let at = (at + thread * 5) % work.len();
                    let (pack, config) = work[at];
                    assert!(plan_bytes(driver, pack, config) == alone[at], "work {at}");
                }
            });
        }
    });
}

/// The digest changes if any plan changes, so this shows that debug and release builds and all
/// platforms agree.
#[test]
fn plans_are_byte_identical_in_every_build() {
    let (driver, configs) = (DefaultDriver::new(O200K), configs());
    let digests: Vec<_> = packs()
        .iter()
        .map(|pack| digest(&driver, pack, &configs).to_hex()[..16].to_owned())
        .collect();
    expect![[r"
        24d2c9cb07d9c6e3
        94284ad2d9487a26
        b0720ff4fa500bd2
        56f6af6e5f74b79c"]]
    .assert_eq(&digests.join("\n"));
}
