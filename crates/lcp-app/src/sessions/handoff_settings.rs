//! How hand-offs are made: options, else `lcp.toml`, else the defaults.

use std::time::Duration;

use lcp_continuity::command::{CommandFilter, CommandOptions};
use lcp_continuity::extract::CommandSummarizer;
use lcp_continuity::{ContinuityConfig, DirectiveStyle, HandoffOptions};
use lcp_driver::OutputMode;

use crate::config::{Continuity, Located};

/// The options of hand-offs; each wins over the settings.
#[derive(Clone, Debug, Default)]
pub struct HandoffSettings {
    /// Tokens that a directive may have.
    pub target: Option<u32>,
    /// Tokens that the summary in it may have.
    pub summary: Option<u32>,
    /// The wording of a directive.
    pub style: Option<DirectiveStyle>,
    /// The format of a directive.
    pub mode: Option<OutputMode>,
    /// A command that the shell runs for each summary.
    pub summarizer_cmd: Option<String>,
    /// Seconds that it may take.
    pub summarizer_timeout: Option<u32>,
}

impl HandoffSettings {
    /// What is in force.
    #[must_use]
    pub fn config(&self, file: &Continuity) -> ContinuityConfig {
        let default = ContinuityConfig::default();
        let options = HandoffOptions::default();
        let summary = self.summary.or(value(file.summary_tokens.as_ref()));
        let lease = value(file.lease_seconds.as_ref());
        ContinuityConfig {
            thresholds: file.thresholds,
            target_token_budget: self.target.or(value(file.target_tokens.as_ref())),
            handoff: HandoffOptions {
                target_summary_tokens: summary.unwrap_or(options.target_summary_tokens),
                recent_tokens: value(file.recent_tokens.as_ref()).unwrap_or(options.recent_tokens),
                summary_level: value(file.summary_level.as_ref()).unwrap_or(options.summary_level),
                style: self.style.or(value(file.style.as_ref())).unwrap_or(options.style),
                mode: self.mode.or(value(file.mode.as_ref())).unwrap_or(options.mode),
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
        let seconds = self.summarizer_timeout.or(value(file.summarizer_timeout_seconds.as_ref()));
        if let Some(seconds) = seconds {
            options.timeout = Duration::from_secs(seconds.into());
        }
        Some(CommandSummarizer::new(CommandFilter::shell(line).with_options(options)))
    }
}

fn value<T: Copy>(found: Option<&Located<T>>) -> Option<T> {
    found.map(|found| found.value)
}
