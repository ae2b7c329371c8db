//! `[continuity]`: hand-offs of sessions and their store (RFC 0007).

use std::time::Duration;

use lcp_continuity::{DirectiveStyle, Thresholds};
use lcp_driver::OutputMode;
use lcp_driver::segments::CompressionLevel;

use super::reader::{Result, Section};
use crate::names::{MODES, STYLES};

/// The maximum timeout of a summarizer program in seconds.
pub const SUMMARIZER_SECONDS_MAX: u32 = 3_600;

const DAYS_MAX: u32 = 36_500;
const LEASE_SECONDS_MAX: u32 = 86_400;
/// The maximum time to wait for another holder in seconds.
pub const WAIT_SECONDS_MAX: u32 = 3_600;

/// The settings of hand-offs and their store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Continuity {
    /// `true` if a due hand-off is prepared automatically, `false` if it is only reported.
    pub auto: Option<bool>,
    /// The maximum tokens of a directive.
    pub target_tokens: Option<u32>,
    /// The maximum tokens of the summary in a directive.
    pub summary_tokens: Option<u32>,
    /// Tokens of the newest messages that are handed over unchanged.
    pub recent_tokens: Option<u32>,
    /// `true` to include the state of the session.
    pub include_session_state: Option<bool>,
    /// `true` to include the pending tasks.
    pub extract_pending_tasks: Option<bool>,
    /// The detail of a summary.
    pub summary_level: Option<CompressionLevel>,
    /// The thresholds at which a hand-off is due.
    pub thresholds: Thresholds,
    /// The number of days in which a hand-off can be resumed.
    pub expiry_days: Option<u32>,
    /// The duration of a lease or a claim in seconds.
    pub lease_seconds: Option<u32>,
    /// The maximum time to wait for another holder in seconds.
    pub wait_seconds: Option<u32>,
    /// A SQLite file, relative to this file, or the address of a database.
    pub store: Option<String>,
    /// The timeout of the summarizer program in seconds. A file cannot name the program, because it
    /// may come with a folder of other people.
    pub summarizer_timeout_seconds: Option<u32>,
    /// The wording of a directive.
    pub style: Option<DirectiveStyle>,
    /// The output mode of a directive.
    pub mode: Option<OutputMode>,
}

impl Continuity {
    /// Returns the time in which a hand-off can be resumed.
    pub fn expiry(&self) -> Option<Duration> {
        const SECONDS_PER_DAY: u64 = 24 * 60 * 60;
        self.expiry_days.map(|days| Duration::from_secs(u64::from(days) * SECONDS_PER_DAY))
    }

    pub(super) fn read(root: &mut Section<'_>) -> Result<Self> {
        let Some(entry) = root.take("continuity") else { return Ok(Self::default()) };
        let mut section = entry.section()?;
        let levels = CompressionLevel::ALL.map(|level| (level.name(), level));
        let continuity = Self {
            auto: section.boolean("auto")?,
            target_tokens: section.integer("target_tokens")?,
            summary_tokens: section.integer("summary_tokens")?,
            recent_tokens: section.integer("recent_tokens")?,
            include_session_state: section.boolean("include_session_state")?,
            extract_pending_tasks: section.boolean("extract_pending_tasks")?,
            summary_level: section.choice("summary_level", &levels)?,
            thresholds: thresholds(&mut section)?,
            expiry_days: section.integer_in("expiry_days", 1..=DAYS_MAX)?,
            lease_seconds: section.integer_in("lease_seconds", 1..=LEASE_SECONDS_MAX)?,
            wait_seconds: section.integer_in("wait_seconds", 0..=WAIT_SECONDS_MAX)?,
            store: store(&mut section)?,
            summarizer_timeout_seconds: section
                .integer_in("summarizer_timeout_seconds", 1..=SUMMARIZER_SECONDS_MAX)?,
            style: section.choice("style", &STYLES)?,
            mode: section.choice("mode", &MODES)?,
        };
        section.finish()?;
        // Valid values may be in the wrong order.
        continuity.thresholds.validate().map_err(|error| entry.key_error(error))?;
        Ok(continuity)
    }
}

fn thresholds(section: &mut Section<'_>) -> Result<Thresholds> {
    let default = Thresholds::default();
    let mut percent =
        |key, default| section.integer_in(key, 1..=100).map(|percent| percent.unwrap_or(default));
    let handoff_percent = percent("handoff_percent", default.handoff_percent)?;
    // A default must not exceed a value of the file.
    let at_most = |percent: u32| percent.min(handoff_percent);
    let long_task_percent = percent("long_task_percent", at_most(default.long_task_percent))?;
    let warning_percent = percent("warning_percent", at_most(default.warning_percent))?;
    let margin_percent = section.integer_in("margin_percent", 0..=100)?;
    let steps = section.integer("long_task_steps")?;
    Ok(Thresholds {
        handoff_percent,
        long_task_percent,
        long_task_steps: steps.map_or(default.long_task_steps, |steps| steps as usize),
        warning_percent,
        warning_turns: section.integer("warning_turns")?.unwrap_or(default.warning_turns),
        margin_percent: margin_percent.unwrap_or(default.margin_percent),
    })
}

fn store(section: &mut Section<'_>) -> Result<Option<String>> {
    let Some(entry) = section.take("store") else { return Ok(None) };
    let store = entry.text()?;
    let is_empty = store.trim().is_empty();
    if is_empty { Err(entry.value_error("must not be empty")) } else { Ok(Some(store)) }
}
