//! Tests of the calendar.

use super::time::*;

#[test]
fn timestamps_display_as_calendar_dates() {
    for (millis, shown) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_399_999, "2000-02-28T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (951_868_800_000, "2000-03-01T00:00:00.000Z"),
        (1_767_225_599_007, "2025-12-31T23:59:59.007Z"),
        (4_107_542_399_000, "2100-02-28T23:59:59.000Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
        (i64::MAX, "292278994-08-17T07:12:55.807Z"),
        (i64::MIN, "-292275055-05-16T16:47:04.192Z"),
    ] {
        assert_eq!(Timestamp(millis).to_string(), shown);
    }
}

/// Successive day numbers give successive dates, with the right lengths of months.
#[test]
fn consecutive_days_give_consecutive_dates() {
    let (mut year, mut month, mut day) = (1599, 12, 31);
    let first = -135_141;
    for days in first..first + 2 * 146_097 {
        assert_eq!(date(days), (year, month, day));
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let last = match month {
            2 => 28 + i64::from(leap),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        (year, month, day) = match (month, day == last) {
            (12, true) => (year + 1, 1, 1),
            (_, true) => (year, month + 1, 1),
            _ => (year, month, day + 1),
        };
    }
}
