//! How full a budget is, record by record.

use crate::fixed_point::{BILLION, billionths};

/// How full a budget is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsageLevel {
    /// Nothing to do.
    #[default]
    Normal,
    /// Compaction should be considered.
    Warning,
    /// Compaction is required.
    Critical,
}

impl UsageLevel {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
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
/// Warning begins at exactly its threshold, Critical above its own. Once
/// raised, a level falls back to Warning where it is no longer Critical, but to
/// Normal only below `clear`, so that a use that swings about a threshold does
/// not swing the level.
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
    /// Records that still pass without a warning line.
    silent: u32,
}

/// What one record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The level after it.
    pub level: UsageLevel,
    /// The part of the total that is used, in percent, rounded down. What is
    /// used of a total of 0 is 100 %.
    pub percent: u64,
    /// Tokens that are left; 0 where more was used than there is.
    pub remaining: u32,
    /// Tokens used beyond the total.
    pub over: u32,
    /// A line for the log where this use is itself at or over the warning
    /// threshold and no cooldown holds it back. A level that is merely not
    /// cleared yet gives none.
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
    pub fn record(&mut self, used: u32, total: u32) -> Usage {
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
        Usage { level: self.level, percent, remaining, over, warning_line, debug_line }
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

/// Whether so much is used; nothing never is, not even of a total of 0.
fn reaches(used: u32, ratio: f64, total: u32) -> bool {
    used > 0 && parts(used) >= threshold(ratio, total)
}

fn parts(used: u32) -> u128 {
    u128::from(used) * u128::from(BILLION)
}

fn threshold(ratio: f64, total: u32) -> u128 {
    u128::from(total) * u128::from(billionths(ratio))
}
