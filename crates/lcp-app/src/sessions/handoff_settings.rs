//! The options of hand-offs, from flags, `lcp.toml` or the defaults.

use std::time::Duration;

use lcp_continuity::command::{CommandFilter, CommandOptions};
use lcp_continuity::extract::CommandSummarizer;
use lcp_continuity::{ContinuityConfig, DirectiveStyle, HandoffOptions};
use lcp_driver::OutputMode;

use crate::config::Continuity;

/// The default of `wait_seconds`. Another command needs its lease for less time.
const WAIT_SECONDS: u32 = 2;

/// The options of hand-offs. Each takes precedence over the settings.
#[derive(Clone, Debug, Default)]
pub struct HandoffSettings {
    /// The maximum tokens of a directive.
    pub target: Option<u32>,
    /// The maximum tokens of the summary in a directive.
    pub summary: Option<u32>,
    /// The wording of a directive.
    pub style: Option<DirectiveStyle>,
    /// The format of a directive.
    pub mode: Option<OutputMode>,
    /// `true` to include the state of the session.
    pub session_state: Option<bool>,
    /// `true` to include the pending tasks.
    pub pending_tasks: Option<bool>,
    /// A shell command for summaries.
    pub summarizer_cmd: Option<String>,
    /// The timeout of the command in seconds.
    pub summarizer_timeout: Option<u32>,
}

impl HandoffSettings {
    /// Returns the effective configuration.
    #[must_use]
    pub fn config(&self, file: &Continuity) -> ContinuityConfig {
        let default = ContinuityConfig::default();
        let options = HandoffOptions::default();
        let summary = self.summary.or(file.summary_tokens);
        let session_state = self.session_state.or(file.include_session_state);
        let pending_tasks = self.pending_tasks.or(file.extract_pending_tasks);
        ContinuityConfig {
            thresholds: file.thresholds,
            target_token_budget: self.target.or(file.target_tokens),
            handoff: HandoffOptions {
                target_summary_tokens: summary.unwrap_or(options.target_summary_tokens),
                include_session_state: session_state.unwrap_or(options.include_session_state),
                extract_pending_tasks: pending_tasks.unwrap_or(options.extract_pending_tasks),
                recent_tokens: file.recent_tokens.unwrap_or(options.recent_tokens),
                summary_level: file.summary_level.unwrap_or(options.summary_level),
                style: self.style.or(file.style).unwrap_or(options.style),
                mode: self.mode.or(file.mode).unwrap_or(options.mode),
                ..options
            },
            lease: file.lease_seconds.map_or(default.lease, seconds),
            wait: seconds(file.wait_seconds.unwrap_or(WAIT_SECONDS)),
            ..default
        }
    }

    /// Returns whether these options change the content of a hand-off in a way that the hand-off
    /// does not record.
    #[must_use]
    pub(super) const fn change_content(&self) -> bool {
        self.summary.is_some() || self.session_state.is_some() || self.pending_tasks.is_some()
    }

    /// Returns the summarizer program. Only a flag can name it, because `lcp.toml` may come with a
    /// folder of other people.
    #[must_use]
    pub fn summarizer(&self, file: &Continuity) -> Option<CommandSummarizer> {
        let line = self.summarizer_cmd.clone()?;
        let mut options = CommandOptions::default();
        let timeout = self.summarizer_timeout.or(file.summarizer_timeout_seconds);
        options.timeout = timeout.map_or(options.timeout, seconds);
        Some(CommandSummarizer::new(CommandFilter::shell(line).with_options(options)))
    }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}
