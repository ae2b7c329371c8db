//! How hand-offs are made: flags, else `lcp.toml`, else the defaults.

use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lcp_continuity::command::{CommandFilter, CommandOptions};
use lcp_continuity::extract::CommandSummarizer;
use lcp_continuity::{ContinuityConfig, DirectiveStyle, HandoffOptions};
use lcp_driver::OutputMode;

use crate::arguments::tokens;
use crate::config::{Continuity, Found, MODES, STYLES, SUMMARIZER_SECONDS_MAX};

/// The flags that say what a hand-off is to be like.
#[derive(Debug, Default, clap::Args)]
pub struct Making {
    /// Tokens that a directive may have; a quarter of what the window leaves
    /// unless lcp.toml says otherwise
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub target: Option<u32>,
    /// Tokens that the summary in it may have; 2,000 unless lcp.toml says
    /// otherwise
    #[arg(long, value_name = "N", value_parser = tokens, allow_negative_numbers = true)]
    pub summary: Option<u32>,
    /// How a directive is worded; structured unless lcp.toml says otherwise
    #[arg(long, value_parser = named(STYLES))]
    pub style: Option<DirectiveStyle>,
    /// How a directive is rendered; xml unless lcp.toml says otherwise
    #[arg(long, value_parser = named(MODES))]
    pub mode: Option<OutputMode>,
    /// Let the shell run this for each summary: it reads the conversation
    #[arg(long, value_name = "CMD")]
    pub summarizer_cmd: Option<String>,
    /// Seconds that it may take; 60 unless lcp.toml says otherwise
    #[arg(long, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(SUMMARIZER_SECONDS_MAX)))]
    pub summarizer_timeout: Option<u32>,
}

impl Making {
    /// What is in force.
    #[must_use]
    pub fn config(&self, file: &Continuity) -> ContinuityConfig {
        let default = ContinuityConfig::default();
        let options = HandoffOptions::default();
        let summary = self.summary.or(said(file.summary_tokens.as_ref()));
        let lease = said(file.lease_seconds.as_ref());
        ContinuityConfig {
            thresholds: file.thresholds,
            target_token_budget: self.target.or(said(file.target_tokens.as_ref())),
            handoff: HandoffOptions {
                target_summary_tokens: summary.unwrap_or(options.target_summary_tokens),
                recent_tokens: said(file.recent_tokens.as_ref()).unwrap_or(options.recent_tokens),
                summary_level: said(file.summary_level.as_ref()).unwrap_or(options.summary_level),
                style: self.style.or(said(file.style.as_ref())).unwrap_or(options.style),
                mode: self.mode.or(said(file.mode.as_ref())).unwrap_or(options.mode),
                ..options
            },
            lease: lease.map_or(default.lease, |seconds| Duration::from_secs(seconds.into())),
            ..default
        }
    }

    /// The program that writes summaries. A flag alone names it: files come with folders
    /// of other people.
    #[must_use]
    pub fn summarizer(&self, file: &Continuity) -> Option<CommandSummarizer> {
        let line = self.summarizer_cmd.clone()?;
        let mut options = CommandOptions::default();
        let seconds = self.summarizer_timeout.or(said(file.summarizer_timeout_seconds.as_ref()));
        if let Some(seconds) = seconds {
            options.timeout = Duration::from_secs(seconds.into());
        }
        Some(CommandSummarizer::new(CommandFilter::shell(line).with_options(options)))
    }
}

/// One of these by its name.
fn named<T: Copy + Send + Sync + 'static, const N: usize>(
    of: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(of.map(|(name, _)| name)).try_map(move |name| {
        let found = of.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| *value).ok_or("there is no such name")
    })
}

fn said<T: Copy>(found: Option<&Found<T>>) -> Option<T> {
    found.map(|found| found.value)
}
