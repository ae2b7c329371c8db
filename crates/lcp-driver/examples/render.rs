//! Renders blocks within smaller and smaller budgets, and prints the decision about each block:
//!
//! ```text
//! cargo run -p lcp-driver --example render
//! ```

#![allow(clippy::print_stdout, reason = "the example prints texts and plans")]

use std::error::Error;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{Annotation, Block, Lang, Priority, Role};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // The second file has no summary, so a placeholder replaces it.
    let retry = "pub fn retry() { attempt() }\n".repeat(30);
    let queue = "pub fn queue() { push() }\n".repeat(30);
    let blocks = [
        Block::code(Lang::Rust, "src/retry.rs", retry.as_str()).with_summary("the retry loop"),
        Block::code(Lang::Rust, "src/queue.rs", queue.as_str()),
        Block::conversation(Role::User, "Why does it never end?"),
        // Block 2 is critical: it is shown in full before any other block.
        Block::new(Annotation::priority(2, Priority::Critical)),
    ];
    // Exact counts. A driver with `HeuristicEstimator` needs no vocabulary.
    let driver = DefaultDriver::new(Tiktoken::new(Encoding::O200kBase));
    for budget in [1_000, 300, 40] {
        let config = DriverConfig {
            token_budget: Some(budget),
            mode: OutputMode::Minimal,
            ..DriverConfig::default()
        };
        let rendered = driver.run(&blocks, &config)?;
        let used = rendered.plan.used_tokens;
        println!("{used} of {budget} tokens:");
        for item in &rendered.plan.items {
            println!("  {} {}: {:?}", item.block_type.label(), item.label, item.decision);
        }
        if budget < 100 {
            println!("{}", rendered.text);
        }
    }
    Ok(())
}
