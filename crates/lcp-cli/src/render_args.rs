//! Flags of a render.

use std::path::{Path, PathBuf};

use lcp_app::config::Config;
use lcp_app::files;
use lcp_app::names::{MODES, SPECIAL_TOKENS, VERBOSITIES};
use lcp_app::render::{RenderOptions, block_type};
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{OutputMode, Verbosity};
use lcp_types::BlockType;

use crate::Result;
use crate::arguments::by_name;
use crate::budget_args::BudgetArgs;
use crate::dedup_args::DedupArgs;
use crate::output::Output;
use crate::prompt_cache_args::PromptCacheArgs;
use crate::tokenizer_args::TokenizerArgs;

/// What decides what a text is: as flags say it, or any other program.
#[derive(Debug, Default, clap::Args)]
pub struct RenderArgs {
    /// The pack; `-` for standard input
    pub pack: PathBuf,
    /// What bounds the text.
    #[command(flatten)]
    pub limits: BudgetArgs,
    /// The format of the text
    #[arg(long, value_parser = by_name(MODES), default_value = "xml")]
    pub mode: OutputMode,
    /// How much of each block: `full` and `summary` ignore the budget
    #[arg(long, value_parser = by_name(VERBOSITIES), default_value = "adaptive")]
    pub verbosity: Verbosity,
    /// What counts.
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// Only blocks of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = block_type)]
    pub types: Option<Vec<BlockType>>,
    /// What is kept of the text before.
    #[command(flatten)]
    pub prompt_cache: PromptCacheArgs,
    /// What is done about what stands twice.
    #[command(flatten)]
    pub dedup: DedupArgs,
    /// What is done about words like `<|im_start|>` in a content, of which careless programs make
    /// control tokens: `warn` lists them, `escape` puts a space into each, `reject` ends with 3;
    /// warn unless lcp.toml says otherwise
    #[arg(long, value_name = "WHAT", value_parser = by_name(SPECIAL_TOKENS))]
    pub special_tokens: Option<SpecialTokens>,
}

impl RenderArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> Result<RenderOptions> {
        Ok(RenderOptions {
            budget: self.limits.to_options()?,
            mode: self.mode,
            verbosity: self.verbosity,
            tokenizer: self.counting.to_options(),
            types: self.types.clone(),
            prompt_cache: self.prompt_cache.to_options(),
            dedup: self.dedup.to_options(),
            special_tokens: self.special_tokens,
            ..RenderOptions::default()
        })
    }

    /// Returns the path of the previous plan.
    pub fn previous(&self) -> Option<&Path> {
        self.prompt_cache.previous()
    }

    /// Reads the settings, and begins to load the tokenizer.
    pub fn read_config(&self) -> Result<Config> {
        let config = self.counting.read_config()?;
        self.counting.to_options().begin_loading(&config);
        Ok(config)
    }

    /// Reads the pack.
    pub fn read(&self, output: &Output) -> Result<Vec<u8>> {
        files::read(&self.pack, output)
    }
}
