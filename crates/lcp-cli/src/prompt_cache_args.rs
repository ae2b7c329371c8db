//! Flags of stable plans, which keep prompt caches valid.

use std::path::{Path, PathBuf};

use lcp_app::prompt_cache::PromptCacheOptions;
use lcp_driver::prompt_cache::Watermarks;

/// The flags of stable plans.
#[derive(Debug, Default, clap::Args)]
pub struct PromptCacheArgs {
    /// Plan of the previous turn; its text is kept unchanged
    ///
    /// New blocks are appended to the existing text, so that prompt caches stay valid. `render
    /// --plan` writes this file. A missing file starts a new session.
    #[arg(long, value_name = "PATH")]
    previous: Option<PathBuf>,
    /// Repack above HIGH x budget, down to LOW x budget [default: 0.9,0.7]
    ///
    /// Only for texts that --previous or --plan keeps stable; 0 < LOW < HIGH <= 1.
    /// `[context.stable]` of lcp.toml changes the default.
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

/// Parses `HIGH,LOW`, two fractions of the budget.
fn watermarks(value: &str) -> Result<Watermarks, String> {
    let parts = value.split_once(',').and_then(|(high, low)| {
        Some((high.trim().parse::<f64>().ok()?, low.trim().parse::<f64>().ok()?))
    });
    let (high, low) = parts.ok_or("expected two fractions of the budget, such as 0.9,0.7")?;
    Watermarks::new(high, low).map_err(|error| error.to_string())
}
