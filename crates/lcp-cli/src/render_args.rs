//! Flags of a render.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lcp_app::config::Config;
use lcp_app::files;
use lcp_app::render::{RenderJob, RenderOptions, RenderSetup, block_type};
use lcp_driver::special_tokens::SpecialTokens;
use lcp_driver::{OutputMode, Verbosity};
use lcp_types::BlockType;

use crate::Result;
use crate::budget_args::BudgetArgs;
use crate::dedup_args::DedupArgs;
use crate::output::Output;
use crate::prompt_cache_args::PromptCacheArgs;
use crate::tokenizer_args::TokenizerArgs;

/// What is done about special tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum SpecialTokensArg {
    #[value(alias = "report")]
    Warn,
    #[value(alias = "neutralise")]
    Escape,
    Reject,
}

impl From<SpecialTokensArg> for SpecialTokens {
    fn from(policy: SpecialTokensArg) -> Self {
        match policy {
            SpecialTokensArg::Warn => Self::Warn,
            SpecialTokensArg::Escape => Self::Escape,
            SpecialTokensArg::Reject => Self::Reject,
        }
    }
}

/// What decides what a text is: as flags say it, or any other program.
#[derive(Debug, Default, clap::Args)]
pub struct RenderArgs {
    /// The pack; `-` for standard input
    pub pack: PathBuf,
    /// What bounds the text.
    #[command(flatten)]
    pub limits: BudgetArgs,
    /// The format of the text
    #[arg(long, value_enum, default_value = "xml")]
    pub mode: Mode,
    /// How much of each block: `full` and `summary` ignore the budget
    #[arg(long, value_enum, default_value = "adaptive")]
    pub verbosity: Level,
    /// What counts.
    #[command(flatten)]
    pub counting: TokenizerArgs,
    /// Only blocks of these types, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',', value_parser = block_type)]
    pub types: Option<Vec<BlockType>>,
    /// What is kept of the text before.
    #[command(flatten)]
    pub keeping: PromptCacheArgs,
    /// What is done about what stands twice.
    #[command(flatten)]
    pub deduping: DedupArgs,
    /// What is done about words like `<|im_start|>` in a content, of which careless programs make
    /// control tokens: `warn` lists them, `escape` puts a space into each, `reject` ends with 3;
    /// warn unless lcp.toml says otherwise
    #[arg(long, value_enum, value_name = "WHAT")]
    pub special_tokens: Option<SpecialTokensArg>,
}

/// The format of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum Mode {
    #[default]
    Xml,
    Markdown,
    Minimal,
}

impl From<Mode> for OutputMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Xml => Self::Xml,
            Mode::Markdown => Self::Markdown,
            Mode::Minimal => Self::Minimal,
        }
    }
}

/// How much of each block is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[expect(missing_docs, reason = "they say it")]
pub enum Level {
    Full,
    Summary,
    #[default]
    Adaptive,
}

impl RenderArgs {
    /// Returns the options that these flags ask for.
    pub fn options(&self) -> Result<RenderOptions> {
        Ok(RenderOptions {
            budget: self.limits.options()?,
            mode: self.mode.into(),
            verbosity: match self.verbosity {
                Level::Full => Verbosity::Full,
                Level::Summary => Verbosity::Summary,
                Level::Adaptive => Verbosity::Adaptive,
            },
            tokenizer: self.counting.options(),
            types: self.types.clone(),
            prompt_cache: self.keeping.options(),
            dedup: self.deduping.options(),
            special_tokens: self.special_tokens.map(Into::into),
        })
    }

    /// Returns the path of the previous plan.
    pub fn previous(&self) -> Option<&Path> {
        self.keeping.previous()
    }

    /// Reads the pack; meanwhile the tokenizer is loaded.
    pub fn read(&self, output: &Output) -> Result<Vec<u8>> {
        self.counting.options().begin_loading();
        files::read(&self.pack, output)
    }

    /// Reads the settings; meanwhile the tokenizer is loaded.
    pub fn config(&self) -> Result<Config> {
        self.counting.options().begin_loading();
        self.counting.config()
    }

    /// Puts everything together but the pack.
    pub fn setup(&self, config: Config, plan: bool, output: &Output) -> Result<RenderSetup<'_>> {
        RenderSetup::new(&self.pack, &self.options()?, config, plan, output)
    }

    /// Puts everything together.
    pub fn job<'b>(&'b self, bytes: &'b [u8], output: &Output) -> Result<RenderJob<'b>> {
        let config = self.counting.config()?;
        RenderJob::new(&self.pack, bytes, &self.options()?, config, output)
    }
}
