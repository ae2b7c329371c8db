//! `million`: many small blocks, planned and rendered within a small budget.

use std::time::Instant;

use lcp_driver::{DefaultDriver, DriverConfig, OutputMode};
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::{Block, Lang, Role};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

/// Plan and render a million small blocks within a small budget
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many blocks
    #[arg(long, default_value = "1000000")]
    blocks: u32,
    /// Tokens that the text may have
    #[arg(long, default_value = "5000")]
    budget: u32,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    let texts: Vec<_> =
        (0..args.blocks).map(|i| format!("message {i}: the answer is {}", i % 97)).collect();
    let blocks: Vec<_> = texts
        .iter()
        .enumerate()
        .map(|(i, text)| match i % 4 {
            0 => Block::code(Lang::Rust, format!("src/f{i}.rs"), text.as_str()),
            _ => Block::conversation(Role::User, text.as_str()),
        })
        .collect();
    let counter = Tiktoken::new(Encoding::O200kBase);
    for mode in OutputMode::ALL {
        let config =
            DriverConfig { mode, token_budget: Some(args.budget), ..DriverConfig::default() };
        let start = Instant::now();
        let rendered = DefaultDriver::new(counter)
            .run(&blocks, &config)
            .map_err(|error| Failure::new(Code::OverBudget, error.to_string()))?;
        let seconds = start.elapsed().as_secs_f64();
        let (used, found) = (rendered.plan.used_tokens, counter.estimate(&rendered.text));
        let shown = rendered.plan.items.iter().filter(|item| item.decision.is_shown()).count();
        output.progress(format!(
            "{:<8} {} blocks, {used} of {} tokens, {shown} blocks shown, {seconds:.1} s",
            mode.name(),
            blocks.len(),
            args.budget,
        ));
        if used > args.budget || used != found {
            let message = format!("{used} tokens were planned, {found} are in the text");
            return Err(Failure::new(Code::OverBudget, message));
        }
    }
    Ok(())
}
