//! The flags of the gateway, for `proxy` and `run`.

use std::path::PathBuf;

use lcp_gateway::{EditOptions, Upstream, default_data_dir};

use crate::Result;
use crate::tokenizer_args::ConfigArgs;

/// The flags of edits and of the provider.
#[derive(Debug, clap::Args)]
pub struct GatewayArgs {
    /// Tokens that a request should have at most [default: four fifths of the model's context window]
    ///
    /// If a request exceeds it, older tool results become stubs. Until the request exceeds the default,
    /// too, results that the provider has cached become stubs only if that pays. `budget` of `[gateway]`
    /// in lcp.toml changes the default. If the window is unknown, there is no budget by default, and a
    /// budget that you set applies at once.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    budget: Option<u32>,
    /// Send all requests unchanged, and record what edits would save
    #[arg(long)]
    dry_run: bool,
    /// Base URL of the provider [default: that of Anthropic or OpenAI, by the API of a request]
    ///
    /// `run` uses the one that is configured for the agent.
    #[arg(long, value_name = "URL", value_parser = Upstream::one)]
    pub upstream: Option<Upstream>,
    #[command(flatten)]
    data: DataArgs,
    /// Days to keep originals and decisions after their last use, and figures after their request
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=3650))]
    keep_days: u32,
    #[command(flatten)]
    config: ConfigArgs,
}

/// The flag that selects the folder of the gateway.
#[derive(Debug, clap::Args)]
pub struct DataArgs {
    /// Folder of decisions, originals and figures [default: lcp/gateway in the user's data folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl DataArgs {
    /// Returns the folder.
    pub fn folder(&self) -> Result<PathBuf> {
        self.data.clone().map_or_else(default_data_dir, Ok)
    }
}

impl GatewayArgs {
    /// Returns the options of edits.
    pub fn to_options(&self) -> Result<EditOptions> {
        Ok(EditOptions {
            data: self.data.folder()?,
            budget: self.budget,
            dry_run: self.dry_run,
            keep_days: self.keep_days,
            settings: self.config.read()?,
        })
    }
}
