//! What was really used of a budget: levels, lines for a log, a history (RFC 0004 §9 usage).
//!
//! Nothing here reads the environment or a clock, or prints: callers do.

use std::collections::VecDeque;

use crate::fixed_point::{BILLION, billionths};

/// Returns whether the value of `LCP_DEBUG_BUDGET` asks for [`UsageStatus::debug_line`]: any does
/// but none, an empty one, `0` and `false`.
#[must_use]
pub fn is_debug_budget_set(value: Option<&str>) -> bool {
    value.is_some_and(|value| !matches!(value, "" | "0" | "false"))
}

lcp_types::named_enum! {
    /// How full a budget is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum UsageLevel {
        /// Nothing to do.
        #[default]
        Normal = "normal",
        /// Compaction should be considered.
        Warning = "warning",
        /// Compaction is required.
        Critical = "critical",
    }
}

/// Where the levels begin, as parts of the total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UsageThresholds {
    /// Warning from here on; 0.8 by default.
    pub warning: f64,
    /// Critical above this; 0.9 by default.
    pub critical: f64,
    /// What was raised is Normal again below this; 0.7 by default.
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

/// Thresholds that are no thresholds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "thresholds must be 0 < clear <= warning <= critical <= 1, they are clear {}, warning {}, \
     critical {}",
    thresholds.clear, thresholds.warning, thresholds.critical
)]
pub struct UsageError {
    /// What they are.
    pub thresholds: UsageThresholds,
}

/// Follows the use of a budget.
///
/// Warning begins at exactly its threshold, Critical above its own. Once raised, a level falls back
/// to Warning where it is no longer Critical, but to Normal only below `clear`, so that a use that
/// swings about a threshold does not swing the level.
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
    /// Records left without a warning line.
    silent: u32,
}

/// What one record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageStatus {
    /// The level after it.
    pub level: UsageLevel,
    /// The part of the total that is used, in percent, rounded down. What is
    /// used of a total of 0 is 100 %.
    pub percent: u64,
    /// Tokens that are left; 0 where more was used than there is.
    pub remaining: u32,
    /// Tokens used beyond the total.
    pub over: u32,
    /// A line for the log where this use is itself at or over the warning threshold and no cooldown
    /// holds it back. A level that is merely not cleared yet gives none.
    pub warning_line: Option<String>,
    /// A line for debugging.
    pub debug_line: String,
}

impl UsageMonitor {
    /// A monitor with its own thresholds, and without cooldown.
    ///
    /// # Errors
    ///
    /// Where they are not in order, or not above 0 and at most 1.
    pub fn new(thresholds: UsageThresholds) -> Result<Self, UsageError> {
        if thresholds.is_valid() {
            Ok(Self { thresholds, ..Self::default() })
        } else {
            Err(UsageError { thresholds })
        }
    }

    /// With at least so many records between two warning lines; 0 by default.
    /// A rise to Critical waits as well: the level tells it at once.
    #[must_use]
    pub fn with_cooldown(self, records: u32) -> Self {
        Self { cooldown: records, ..self }
    }

    /// The level after the last record.
    #[must_use]
    pub fn level(&self) -> UsageLevel {
        self.level
    }

    /// Takes in that `used` of `total` tokens are used.
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

/// Returns whether so much is used; nothing never is, not even of a total of 0.
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
pub struct UsageEntry {
    /// The model, where the caller named one.
    pub model: Option<String>,
    /// The budget in tokens.
    pub total: u32,
    /// Tokens that were used.
    pub used: u32,
}

impl UsageEntry {
    /// Whether more was used than there was.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.used > self.total
    }
}

/// What was used, record by record. Averages and counts are exact over all that was ever recorded;
/// the records themselves are the last [`MAX_ENTRIES`](Self::MAX_ENTRIES).
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
pub struct UsageHistory {
    entries: VecDeque<UsageEntry>,
    recorded: u64,
    used: u128,
    over: u64,
}

impl UsageHistory {
    /// How many records are kept.
    pub const MAX_ENTRIES: usize = 1_000;

    /// How many records a trend is of.
    pub const TREND: usize = 5;

    /// Adds a record; the oldest goes where there are too many.
    pub fn record(&mut self, model: Option<&str>, total: u32, used: u32) {
        let entry = UsageEntry { model: model.map(str::to_owned), total, used };
        self.recorded += 1;
        self.used += u128::from(used);
        self.over += u64::from(entry.is_over());
        if self.entries.len() == Self::MAX_ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    /// The records that are kept, oldest first.
    #[must_use]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &UsageEntry> + DoubleEndedIterator {
        self.entries.iter()
    }

    /// How many records there were.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// How many of them were over their budget.
    #[must_use]
    pub fn over_budget_count(&self) -> u64 {
        self.over
    }

    /// Tokens used on average, to the nearest one; `None` without records.
    #[must_use]
    pub fn avg_usage(&self) -> Option<u64> {
        average(self.used, self.recorded)
    }

    /// Tokens used on average in the last five records, or in all while there
    /// are fewer; `None` without records.
    #[must_use]
    pub fn trend(&self) -> Option<u64> {
        let last = self.last();
        average(last.clone().map(|entry| u128::from(entry.used)).sum(), last.len() as u64)
    }

    /// The trend as a line for the log, CBS prints it after every fifth record.
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

/// Averages, halves rounded up.
fn average(sum: u128, count: u64) -> Option<u64> {
    let twice = u128::from(count) * 2;
    let average = (sum * 2 + u128::from(count)).checked_div(twice)?;
    u64::try_from(average).ok()
}
