//! Flags of commands that work with sessions.

use lcp_app::config::{Config, SUMMARIZER_SECONDS_MAX};
use lcp_app::names::{MODES, STYLES};
use lcp_app::sessions::{HandoffSettings, SessionOptions, WindowOptions};
use lcp_continuity::DirectiveStyle;
use lcp_driver::OutputMode;

use crate::Result;
use crate::arguments::{by_name, parse_tokens};
use crate::tokenizer_args::TokenizerArgs;

/// The flag that says where sessions are kept.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StoreArgs {
    /// Where sessions are kept: a SQLite file, or postgres://… if that is built in; that
    /// of lcp.toml, else lcp/sessions.sqlite in the user's data folder
    #[arg(long, value_name = "PATH|URL")]
    pub store: Option<String>,
}

/// Flags of `session record`, `handoff` and `resume`.
#[derive(Debug, clap::Args)]
pub struct SessionArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
}

impl SessionArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> SessionOptions {
        SessionOptions { store: self.store.store.clone(), tokenizer: self.counting.to_options() }
    }

    /// Reads the settings.
    pub fn read_config(&self) -> Result<Config> {
        self.counting.read_config()
    }
}

/// The flags that say what a hand-off is to be like.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct HandoffArgs {
    /// Tokens that a directive may have; a quarter of what the window leaves
    /// unless lcp.toml says otherwise
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub target: Option<u32>,
    /// Tokens that the summary in it may have; 2,000 unless lcp.toml says
    /// otherwise
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub summary: Option<u32>,
    /// How a directive is worded; structured unless lcp.toml says otherwise
    #[arg(long, value_parser = by_name(STYLES))]
    pub style: Option<DirectiveStyle>,
    /// How a directive is rendered; xml unless lcp.toml says otherwise
    #[arg(long, value_parser = by_name(MODES))]
    pub mode: Option<OutputMode>,
    /// Let the shell run this for each summary: it reads the conversation
    #[arg(long, value_name = "CMD")]
    pub summarizer_cmd: Option<String>,
    /// Seconds that it may take; 60 unless lcp.toml says otherwise
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX)))]
    pub summarizer_timeout: Option<u32>,
}

impl HandoffArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> HandoffSettings {
        let Self { target, summary, style, mode, summarizer_cmd, summarizer_timeout } =
            self.clone();
        HandoffSettings { target, summary, style, mode, summarizer_cmd, summarizer_timeout }
    }
}

/// The flags that say how large a window is.
#[derive(Debug, Default, clap::Args)]
pub struct WindowArgs {
    /// Tokens of the model's window; without it that of lcp.toml, of the model,
    /// or 64,000
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// Tokens of it that the model's output needs; 0 unless lcp.toml says
    /// otherwise
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub output_reserve: Option<u32>,
}

impl WindowArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> WindowOptions {
        WindowOptions { window: self.window, output_reserve: self.output_reserve }
    }
}
