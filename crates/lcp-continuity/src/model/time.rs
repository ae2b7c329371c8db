//! Timestamps, and clocks that tests can control.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1_000;

/// A point in time, in milliseconds since 1970-01-01 00:00 UTC.
///
/// Displayed in ISO 8601 format, in UTC. Years outside 0 to 9999 have a minus sign or more than
/// four digits.
///
/// ```
/// use lcp_continuity::Timestamp;
///
/// assert_eq!(Timestamp(1_767_225_600_250).to_string(), "2026-01-01T00:00:00.250Z");
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(
    /// The milliseconds.
    pub i64,
);

impl Timestamp {
    /// Returns the timestamp `span` later, or the latest possible timestamp on overflow.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(to_millis(span)))
    }

    /// Returns the current time of the system clock.
    #[must_use]
    pub fn now() -> Self {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(span) => Self(to_millis(span)),
            Err(before) => Self(-to_millis(before.duration())),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.0.div_euclid(DAY_MILLIS));
        let millis = self.0.rem_euclid(DAY_MILLIS);
        let (seconds, millis) = (millis / 1_000, millis % 1_000);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        let sign = if year < 0 { "-" } else { "" };
        let year = year.unsigned_abs();
        write!(f, "{sign}{year:04}-{month:02}-{day:02}T")?;
        write!(f, "{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Converts a duration to milliseconds, saturating at `i64::MAX`.
pub(crate) fn to_millis(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the year, month and day of the Gregorian calendar that is `days` days after 1970-01-01.
pub(super) const fn date(days: i64) -> (i64, i64, i64) {
    // Days are counted from 1 March of year 0, so that a leap day is the last day of its year. The
    // calendar repeats every 400 years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // From March on, every five months have 153 days.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

/// A source of the current time.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the current time.
    fn now(&self) -> Timestamp;
}

/// The system clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock for tests that advances only when [`advance`](Self::advance) is called.
///
/// ```
/// use lcp_continuity::{Clock, ManualClock, Timestamp};
/// use std::time::Duration;
///
/// let clock = ManualClock::new(Timestamp(1_000));
/// clock.advance(Duration::from_secs(2));
/// assert_eq!(clock.now(), Timestamp(3_000));
/// ```
#[derive(Debug, Default)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// Creates a clock set to this time.
    #[must_use]
    pub fn new(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.0))
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.0.store(self.now().after(by).0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}
