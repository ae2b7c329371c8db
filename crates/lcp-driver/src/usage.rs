//! The actual use of a budget: levels, log lines and a history (RFC 0004 §9 usage).
//!
//! This module does not read the environment or a clock, and does not print; its callers do.

use std::collections::VecDeque;

use crate::block_view::label::push_word;
use crate::fixed_point::{BILLION, billionths};
use crate::fmt::write_to;
use crate::plan::ShareUsage;

/// Returns whether this value of `LCP_DEBUG_BUDGET` asks for [`UsageStatus::debug_line`]. `None`,
/// the empty string, `0` and `false` do not; any other value does.
#[must_use]
pub fn is_debug_budget_set(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

/// Returns a line for debugging with the used tokens of each share, and the tokens that belong to
/// it; `None` without shares. Blocks without a share are `other`.
#[must_use]
pub fn section_line(shares: &[ShareUsage]) -> Option<String> {
    let mut line = "[Budget] Section usage:".to_owned();
    for (at, share) in shares.iter().enumerate() {
        line.push_str(if at == 0 { " " } else { ", " });
        push_word(&mut line, if share.name.is_empty() { "other" } else { &share.name });
        write_to(&mut line, format_args!(" {} / {}", share.used, share.tokens));
    }
    (!shares.is_empty()).then_some(line)
}

lcp_types::named_enum! {
    /// The fill level of a budget.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum UsageLevel {
        /// No action is needed.
        #[default]
        Normal = "normal",
        /// Compaction should be considered.
        Warning = "warning",
        /// Compaction is required.
        Critical = "critical",
    }
}

/// The thresholds of the levels, as fractions of the total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageThresholds {
    /// The level is Warning at or above this fraction. Default: 0.8.
    pub warning: f64,
    /// The level is Critical above this fraction. Default: 0.9.
    pub critical: f64,
    /// A raised level returns to Normal below this fraction. Default: 0.7.
    pub clear: f64,
}

impl Default for UsageThresholds {
    fn default() -> Self {
        Self { warning: 0.8, critical: 0.9, clear: 0.7 }
    }
}

impl UsageThresholds {
    fn is_valid(self) -> bool {
        let Self { warning, critical, clear } = self;
        0.0 < clear && clear <= warning && warning <= critical && critical <= 1.0
    }
}

/// The error for thresholds that are out of order or out of range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "thresholds must satisfy 0 < clear <= warning <= critical <= 1, got clear {}, warning {}, \
     critical {}",
    thresholds.clear, thresholds.warning, thresholds.critical
)]
pub struct UsageError {
    /// The invalid thresholds.
    pub thresholds: UsageThresholds,
}

/// A monitor of the use of a budget.
///
/// The level is Warning from its threshold on, and Critical above its own. A Critical level falls
/// back to Warning as soon as the use is no longer above the critical threshold. Any raised level
/// returns to Normal only below `clear`, so that a use that fluctuates around a threshold does not
/// toggle the level.
///
/// ```
/// use lcp_driver::usage::{UsageLevel, UsageMonitor};
///
/// let mut monitor = UsageMonitor::default();
/// let usage = monitor.record(5_440, 6_400);
/// assert_eq!(usage.level, UsageLevel::Warning);
/// assert_eq!(
///     usage.warning_line.as_deref(),
///     Some("[Budget] Warning: 85% of token budget used. 960 tokens remaining."),
/// );
/// assert_eq!(monitor.record(4_800, 6_400).level, UsageLevel::Warning); // 75 %
/// assert_eq!(monitor.record(4_400, 6_400).level, UsageLevel::Normal); // 68 %
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageMonitor {
    thresholds: UsageThresholds,
    cooldown: u32,
    level: UsageLevel,
    /// The number of records until the next warning line is possible.
    silent: u32,
}

/// The result of one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageStatus {
    /// The level after the record.
    pub level: UsageLevel,
    /// The used part of the total in percent, rounded down. Any use of a total of 0 is 100 %.
    pub percent: u64,
    /// The unused tokens; 0 if the use exceeds the total.
    pub remaining: u32,
    /// Tokens used in excess of the total.
    pub over: u32,
    /// A line for the log, if the use is at or above the warning threshold and no cooldown
    /// suppresses the line. A raised level that was not cleared yet does not give a line by itself.
    pub warning_line: Option<String>,
    /// A line for debugging, always present.
    pub debug_line: String,
}

impl UsageMonitor {
    /// Creates a monitor with these thresholds and without cooldown.
    ///
    /// # Errors
    ///
    /// Returns a [`UsageError`] unless 0 < `clear` ≤ `warning` ≤ `critical` ≤ 1.
    pub fn new(thresholds: UsageThresholds) -> Result<Self, UsageError> {
        if thresholds.is_valid() {
            Ok(Self { thresholds, ..Self::default() })
        } else {
            Err(UsageError { thresholds })
        }
    }

    /// Sets the minimum number of records between two warning lines. Default: 0. The cooldown also
    /// suppresses the line of a rise to Critical; the level itself changes at once.
    #[must_use]
    pub fn with_cooldown(self, records: u32) -> Self {
        Self { cooldown: records, ..self }
    }

    /// Returns the level after the last record.
    #[must_use]
    pub fn level(&self) -> UsageLevel {
        self.level
    }

    /// Records a use of `used` tokens out of `total`.
    pub fn record(&mut self, used: u32, total: u32) -> UsageStatus {
        self.level = self.level_of(used, total);
        let percent = match total {
            0 => u64::from(used > 0) * 100,
            _ => u64::from(used) * 100 / u64::from(total),
        };
        let (remaining, over) = (total.saturating_sub(used), used.saturating_sub(total));
        let warning_line = self.warns(used, total).then(|| {
            let over = if over > 0 { format!(", {over} over") } else { String::new() };
            format!(
                "[Budget] Warning: {percent}% of token budget used. {remaining} tokens \
                 remaining{over}."
            )
        });
        let debug_line = format!("[Budget] Used {used} / {total} tokens ({percent}%)");
        UsageStatus { level: self.level, percent, remaining, over, warning_line, debug_line }
    }

    fn level_of(&self, used: u32, total: u32) -> UsageLevel {
        let UsageThresholds { warning, critical, clear } = self.thresholds;
        let was_raised = self.level > UsageLevel::Normal;
        if parts(used) > threshold(critical, total) {
            UsageLevel::Critical
        } else if reaches(used, warning, total) || was_raised && reaches(used, clear, total) {
            UsageLevel::Warning
        } else {
            UsageLevel::Normal
        }
    }

    fn warns(&mut self, used: u32, total: u32) -> bool {
        if self.silent > 0 {
            self.silent -= 1;
            return false;
        }
        let warns = reaches(used, self.thresholds.warning, total);
        if warns {
            self.silent = self.cooldown;
        }
        warns
    }
}

/// Returns whether `used` is at least `ratio` × `total`. A use of 0 never is, even if `total` is 0.
fn reaches(used: u32, ratio: f64, total: u32) -> bool {
    used > 0 && parts(used) >= threshold(ratio, total)
}

fn parts(used: u32) -> u128 {
    u128::from(used) * u128::from(BILLION)
}

fn threshold(ratio: f64, total: u32) -> u128 {
    u128::from(total) * u128::from(billionths(ratio))
}

/// One record of a [`UsageHistory`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UsageEntry {
    /// The name of the model, if the caller gave one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub model: Option<String>,
    /// The budget in tokens.
    pub total: u32,
    /// Tokens that were used.
    pub used: u32,
}

impl UsageEntry {
    /// Returns whether the use exceeds the budget.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.used > self.total
    }
}

/// A history of records. Averages and counts are exact over all records ever made; the history
/// keeps only the last [`MAX_ENTRIES`](Self::MAX_ENTRIES) records themselves.
///
/// ```
/// use lcp_driver::usage::UsageHistory;
///
/// let mut history = UsageHistory::default();
/// assert_eq!(history.avg_usage(), None);
/// history.record(None, 6_400, 3_200);
/// history.record(None, 6_400, 6_500);
/// assert_eq!(history.avg_usage(), Some(4_850));
/// assert_eq!(history.over_budget_count(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct UsageHistory {
    entries: VecDeque<UsageEntry>,
    recorded: u64,
    used: u128,
    over: u64,
}

impl UsageHistory {
    /// The maximum number of records in the history.
    pub const MAX_ENTRIES: usize = 100;

    /// The number of records in a trend.
    pub const TREND: usize = 5;

    /// Adds a record, and removes the oldest one if the history is full.
    pub fn record(&mut self, model: Option<&str>, total: u32, used: u32) {
        self.push(UsageEntry { model: model.map(str::to_owned), total, used });
    }

    /// Adds a record, as [`Self::record`] does.
    pub fn push(&mut self, entry: UsageEntry) {
        self.recorded += 1;
        self.used += u128::from(entry.used);
        self.over += u64::from(entry.is_over());
        if self.entries.len() == Self::MAX_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// Returns the records in the history, oldest first.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &UsageEntry> + DoubleEndedIterator {
        self.entries.iter()
    }

    /// Returns the number of all records ever made.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Returns the number of all records that exceeded their budget.
    #[must_use]
    pub fn over_budget_count(&self) -> u64 {
        self.over
    }

    /// Returns the average use in tokens, rounded to the nearest integer; `None` without records.
    #[must_use]
    pub fn avg_usage(&self) -> Option<u64> {
        average(self.used, self.recorded)
    }

    /// Returns the average use in tokens over the last five records, or over all if there are
    /// fewer; `None` without records.
    #[must_use]
    pub fn trend(&self) -> Option<u64> {
        let last = self.last();
        average(last.clone().map(|entry| u128::from(entry.used)).sum(), last.len() as u64)
    }

    /// Returns the trend as a line for the log; `None` without records. CBS (Context Budget System)
    /// prints it after every fifth record.
    #[must_use]
    pub fn trend_line(&self) -> Option<String> {
        let count = self.last().len();
        let line = |tokens| format!("[Budget] Last {count} iterations avg: {tokens} tokens");
        self.trend().map(line)
    }

    fn last(&self) -> impl ExactSizeIterator<Item = &UsageEntry> + Clone {
        self.entries.iter().skip(self.entries.len().saturating_sub(Self::TREND))
    }
}

/// Returns the average with halves rounded up; `None` if `count` is 0.
fn average(sum: u128, count: u64) -> Option<u64> {
    let twice = u128::from(count) * 2;
    let average = (sum * 2 + u128::from(count)).checked_div(twice)?;
    u64::try_from(average).ok()
}
