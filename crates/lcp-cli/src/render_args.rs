//! Flags that control a render.

use std::path::{Path, PathBuf};

use lcp_app::config::Config;
use lcp_app::files;
use lcp_app::names::{MODES, SPECIAL_TOKENS, VERBOSITIES, block_type};
use lcp_app::render::RenderOptions;
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{OutputMode, Verbosity};
use lcp_types::BlockType;

use crate::Result;
use crate::arguments::by_name;
use crate::budget_args::BudgetArgs;
use crate::dedup_args::DedupArgs;
use crate::output::Output;
use crate::prompt_cache_args::PromptCacheArgs;
#[cfg(feature = "full")]
use crate::segment_args::SegmentArgs;
use crate::tokenizer_args::TokenizerArgs;

/// The flags that determine the rendered text, shared by `render` and `report`.
#[derive(Debug, Default, clap::Args)]
pub struct RenderArgs {
    /// Pack to read; `-` for standard input
    pub pack: PathBuf,
    /// The flags of the budget.
    #[command(flatten)]
    pub limits: BudgetArgs,
    /// Format of the text
    #[arg(long, value_parser = by_name(MODES), default_value = "xml")]
    pub mode: OutputMode,
    /// Number the lines of code and documents, as in `12: let x = 1;`
    ///
    /// The numbers count as tokens. `parse` removes them.
    #[arg(long)]
    pub line_numbers: bool,
    /// Amount of each block to show; `full` and `summary` ignore the budget
    #[arg(long, value_parser = by_name(VERBOSITIES), default_value = "adaptive")]
    pub verbosity: Verbosity,
    /// The flags of the tokenizer.
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// Show only blocks of these types, separated by commas [default: all]
    ///
    /// Types: code, conversation, file-tree, tool-result, document, data, diff, embedding-ref,
    /// image, extension.
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = block_type)]
    pub types: Option<Vec<BlockType>>,
    /// Show the records of session files, such as progress notes and token counts
    ///
    /// `lcp import` stores them as metadata. With a budget, they get the tokens that all other blocks
    /// leave, as with --fill.
    #[arg(long)]
    pub records: bool,
    /// The flags of stable plans.
    #[command(flatten)]
    pub prompt_cache: PromptCacheArgs,
    /// The flags of deduplication.
    #[command(flatten)]
    pub dedup: DedupArgs,
    /// The flags of segments.
    #[cfg(feature = "full")]
    #[command(flatten)]
    pub segments: SegmentArgs,
    /// Policy for special tokens such as `<|im_start|>` in content [default: warn]
    ///
    /// Some programs do not treat such strings as ordinary text. `warn` counts them, `escape` inserts
    /// a space into each, `reject` fails with exit code 3. `special_tokens` of lcp.toml changes the
    /// default.
    #[arg(long, value_name = "POLICY", value_parser = by_name(SPECIAL_TOKENS))]
    pub special_tokens: Option<SpecialTokens>,
}

impl RenderArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> Result<RenderOptions> {
        Ok(RenderOptions {
            budget: self.limits.to_options()?,
            mode: self.mode,
            line_numbers: self.line_numbers,
            verbosity: self.verbosity,
            tokenizer: self.counting.to_options(),
            types: self.types.clone(),
            prompt_cache: self.prompt_cache.to_options(),
            dedup: self.dedup.to_options(),
            #[cfg(feature = "full")]
            segments: self.segments.to_options(),
            special_tokens: self.special_tokens,
            shows_records: self.records,
            ..RenderOptions::default()
        })
    }

    /// Returns the path of the previous plan.
    pub fn previous(&self) -> Option<&Path> {
        self.prompt_cache.previous()
    }

    /// Reads the settings, and starts to load the tokenizer in the background.
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
