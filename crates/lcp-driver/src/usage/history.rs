//! Use over time.

use std::collections::VecDeque;

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

/// What was used, record by record. Averages and counts are exact over all that
/// was ever recorded; the records themselves are the last
/// [`MAX_ENTRIES`](Self::MAX_ENTRIES).
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

/// Halves are rounded up; `None` of nothing.
fn average(sum: u128, count: u64) -> Option<u64> {
    let twice = u128::from(count) * 2;
    let average = (sum * 2 + u128::from(count)).checked_div(twice)?;
    u64::try_from(average).ok()
}
