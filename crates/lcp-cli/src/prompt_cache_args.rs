//! Flags that keep prompt caches valid.

use std::path::{Path, PathBuf};

use lcp_app::prompt_cache::PromptCacheOptions;
use lcp_driver::prompt_cache::Watermarks;

/// Flags that keep prompt caches valid.
#[derive(Debug, Default, clap::Args)]
pub struct PromptCacheArgs {
    /// The plan of the previous turn, written by --plan of `render`: the text
    /// of then stays as it was, what is new follows; none there is a first turn
    #[arg(long, value_name = "PATH")]
    previous: Option<PathBuf>,
    /// Parts of the budget: above the first a stable text is packed anew, down
    /// to the second; 0.9,0.7 unless lcp.toml says otherwise
    #[arg(long, alias = "watermarks", value_name = "HIGH,LOW", value_parser = watermarks)]
    repack_at: Option<Watermarks>,
}

impl PromptCacheArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> PromptCacheOptions {
        PromptCacheOptions { previous: self.previous.clone(), watermarks: self.repack_at }
    }

    /// Returns the path of the previous plan.
    pub fn previous(&self) -> Option<&Path> {
        self.previous.as_deref()
    }
}

/// Two parts of the budget.
fn watermarks(value: &str) -> Result<Watermarks, String> {
    let parts = value.split_once(',').and_then(|(high, low)| {
        Some((high.trim().parse::<f64>().ok()?, low.trim().parse::<f64>().ok()?))
    });
    let (high, low) = parts.ok_or("two parts of the budget are wanted, such as 0.9,0.7")?;
    Watermarks::new(high, low).map_err(|error| error.to_string())
}
