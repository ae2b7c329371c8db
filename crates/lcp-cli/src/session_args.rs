//! Flags of the session commands.

use lcp_app::config::{Config, SUMMARIZER_SECONDS_MAX, WAIT_SECONDS_MAX};
use lcp_app::names::{MODES, STYLES};
use lcp_app::sessions::{HandoffSettings, SessionOptions, WindowOptions};
use lcp_continuity::DirectiveStyle;
use lcp_driver::OutputMode;

use crate::Result;
use crate::arguments::{by_name, on_off, parse_tokens};
use crate::tokenizer_args::TokenizerArgs;

/// The flag that selects the session store.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StoreArgs {
    /// Session store [default: lcp/sessions.sqlite in the user's data folder]
    ///
    /// A SQLite file, or a postgres:// URL if support for it is built in. `store` of lcp.toml
    /// changes the default.
    #[arg(long, value_name = "PATH|URL")]
    pub store: Option<String>,
}

/// The flags that `session record`, `handoff` and `resume` share.
#[derive(Debug, clap::Args)]
pub struct SessionArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    counting: TokenizerArgs,
    /// Seconds to wait for another process that uses the session [default: 2]
    ///
    /// LCP does not wait for a process that was killed. `wait_seconds` of lcp.toml changes the default.
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(..=i64::from(WAIT_SECONDS_MAX)))]
    wait: Option<u32>,
}

impl SessionArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> SessionOptions {
        SessionOptions {
            store: self.store.store.clone(),
            tokenizer: self.counting.to_options(),
            wait: self.wait,
        }
    }

    /// Reads the settings.
    pub fn read_config(&self) -> Result<Config> {
        self.counting.read_config()
    }
}

/// The flags that control the content of a hand-off.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct HandoffArgs {
    /// Token limit of the resume prompt [default: a quarter of the usable window]
    ///
    /// `target_tokens` of lcp.toml changes the default.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub target: Option<u32>,
    /// Token limit of the summary in the resume prompt [default: 2000]
    ///
    /// `summary_tokens` of lcp.toml changes the default.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub summary: Option<u32>,
    /// Wording of the resume prompt [default: structured]
    ///
    /// `style` of lcp.toml changes the default.
    #[arg(long, value_parser = by_name(STYLES))]
    pub style: Option<DirectiveStyle>,
    /// Format of the resume prompt [default: xml]
    ///
    /// `mode` of lcp.toml changes the default.
    #[arg(long, value_parser = by_name(MODES))]
    pub mode: Option<OutputMode>,
    /// Include the state of the session [default: on]
    ///
    /// `include_session_state` of lcp.toml changes the default.
    #[arg(long, value_parser = on_off())]
    pub session_state: Option<bool>,
    /// Include the pending tasks [default: on]
    ///
    /// `extract_pending_tasks` of lcp.toml changes the default.
    #[arg(long, value_parser = on_off())]
    pub pending_tasks: Option<bool>,
    #[command(flatten)]
    pub summarizer: SummarizerArgs,
}

impl HandoffArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> HandoffSettings {
        let Self { target, summary, style, mode, session_state, pending_tasks, summarizer } =
            self.clone();
        HandoffSettings {
            target,
            summary,
            style,
            mode,
            session_state,
            pending_tasks,
            ..summarizer.to_options()
        }
    }
}

/// The flags that select the program for summaries.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SummarizerArgs {
    /// Shell command that writes each summary [default: the built-in summarizer]
    ///
    /// CMD reads the messages of the session from standard input and writes the summary to standard output.
    /// If it fails, the built-in summarizer is used.
    #[arg(long, value_name = "CMD")]
    pub summarizer_cmd: Option<String>,
    /// Time limit for each summary, in seconds [default: 60]
    ///
    /// `summarizer_timeout_seconds` of lcp.toml changes the default.
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX)))]
    pub summarizer_timeout: Option<u32>,
}

impl SummarizerArgs {
    /// Returns the settings that these flags ask for. All others are the defaults.
    pub fn to_options(&self) -> HandoffSettings {
        let Self { summarizer_cmd, summarizer_timeout } = self.clone();
        HandoffSettings { summarizer_cmd, summarizer_timeout, ..HandoffSettings::default() }
    }
}

/// The flags that set the size of the context window.
#[derive(Debug, Default, clap::Args)]
pub struct WindowArgs {
    /// Tokens of the context window [default: the model's, else 64000]
    ///
    /// `total_tokens` or `window` of lcp.toml takes precedence over the window of the model. An
    /// existing session keeps its window, unless this flag or another model changes it.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub window: Option<u32>,
    /// Tokens of the window reserved for the model's output [default: 0]
    ///
    /// `response_reserve` of lcp.toml changes the default.
    #[arg(long, value_name = "N", value_parser = parse_tokens, allow_negative_numbers = true)]
    pub output_reserve: Option<u32>,
}

impl WindowArgs {
    /// Returns the options that these flags ask for.
    pub fn to_options(&self) -> WindowOptions {
        WindowOptions { window: self.window, output_reserve: self.output_reserve }
    }
}
