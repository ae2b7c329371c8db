//! Packs a folder and renders it within a budget of tokens, as `lcp pack DIR | lcp render -` does:
//!
//! ```text
//! cargo run -p lcp-app --example pack_and_render -- docs 4000
//! ```

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints the text and the figures"
)]

use std::path::Path;

use lcp_app::Warnings;
use lcp_app::budget::BudgetOptions;
use lcp_app::config::ConfigSource;
use lcp_app::pack::PackOptions;
use lcp_app::render::{RenderJob, RenderOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "docs".to_owned());
    let budget = arguments.next().map_or(Ok(4000), |tokens| tokens.parse())?;

    let config = ConfigSource::Nearest.read()?;
    let reporter = Warnings::default();
    let mut options = PackOptions::default();
    options.paths.push(folder.into());
    let packed = options.pack(&config, &reporter)?;

    let options = RenderOptions {
        budget: BudgetOptions { budget: Some(budget), ..BudgetOptions::default() },
        ..RenderOptions::default()
    };
    let name = Path::new("folder.lcp");
    let job = RenderJob::new(name, &packed.bytes, &options, &config, &reporter)?;
    let rendered = job.render(&reporter)?;
    println!("{}", rendered.text);
    eprintln!("{} of {budget} tokens, {} blocks", rendered.plan.used_tokens, packed.blocks);
    for warning in reporter.take() {
        eprintln!("warning: {warning}");
    }
    Ok(())
}
