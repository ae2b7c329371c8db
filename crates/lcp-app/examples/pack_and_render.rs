//! Packs a folder and renders it within a token budget, as `lcp pack DIR | lcp render -` does. The
//! defaults are the sources of this crate and 4,000 tokens:
//!
//! ```text
//! cargo run -p lcp-app --example pack_and_render -- [DIR] [TOKENS]
//! ```

#![allow(clippy::print_stdout, reason = "the example prints the text and the numbers of tokens")]

use std::path::{Path, PathBuf};

use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::ConfigSource;
use lcp_app::pack::PackOptions;
use lcp_app::render::{RenderJob, RenderOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let folder = arguments.next().map_or(sources, PathBuf::from);
    let budget = arguments.next().map_or(Ok(4000), |tokens| tokens.parse())?;
    pack_and_render(folder, budget)
}

pub(crate) fn pack_and_render(
    folder: PathBuf,
    budget: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    // The settings of the nearest `lcp.toml`, or the defaults. Options override them.
    let config = ConfigSource::Nearest.read()?;
    // Receives the warnings. Jobs print nothing.
    let reporter = Warnings::default();

    let mut options = PackOptions::default();
    options.paths.push(folder);
    let (pack, packed) = options.pack(&config, &reporter)?;

    // A pack can also come from a file. The name is only used in error messages.
    let name = Path::new("folder.lcp");
    let options = RenderOptions {
        budget: BudgetOptions { budget: Some(budget), ..BudgetOptions::default() },
        ..RenderOptions::default()
    };
    let job = RenderJob::new(name, &pack, &options, &config, &reporter)?;
    let rendered = job.render(&reporter)?;
    println!("{}", rendered.text);
    println!("{} of {budget} tokens, {} blocks", rendered.plan.used_tokens, packed.blocks);
    for warning in reporter.take() {
        println!("warning: {warning}");
    }
    Ok(())
}
