//! RFC 0004 §9: the usage of a budget.

use lcp_driver::usage::{
    UsageHistory, UsageLevel, UsageMonitor, UsageStatus, UsageThresholds, is_debug_budget_set,
};

use UsageLevel::{Critical, Normal, Warning};

fn levels(monitor: &mut UsageMonitor, used: &[u32]) -> Vec<UsageLevel> {
    used.iter().map(|&used| monitor.record(used, 1_000).level).collect()
}

fn once(used: u32, total: u32) -> UsageStatus {
    UsageMonitor::default().record(used, total)
}

#[test]
fn warning_starts_at_80_and_critical_above_90_percent() {
    let rows = [
        (0, Normal),
        (799, Normal),
        (800, Warning),
        (900, Warning),
        (901, Critical),
        (1_000, Critical),
        (1_001, Critical),
    ];
    for (used, level) in rows {
        let usage = once(used, 1_000);
        assert_eq!(usage.level, level, "{used}");
        assert_eq!(usage.warning_line.is_some(), level > Normal, "{used}");
    }
    // Tests exactly 80 % of numbers for which floating point is inexact.
    assert_eq!(once(u32::MAX / 5 * 4, u32::MAX).level, Warning);
    assert_eq!(once(u32::MAX / 5 * 4 - 1, u32::MAX).level, Normal);
}

#[test]
fn usage_lines_match_the_documentation() {
    let usage = once(5_440, 6_400);
    assert_eq!(
        usage.warning_line.as_deref(),
        Some("[Budget] Warning: 85% of token budget used. 960 tokens remaining.")
    );
    assert_eq!(usage.debug_line, "[Budget] Used 5440 / 6400 tokens (85%)");
    assert_eq!((usage.percent, usage.remaining, usage.over), (85, 960, 0));
    let quiet = once(1_999, 6_400);
    assert_eq!((quiet.percent, quiet.warning_line), (31, None));
    assert_eq!(quiet.debug_line, "[Budget] Used 1999 / 6400 tokens (31%)");
}

#[test]
fn overuse_is_reported() {
    let usage = once(7_040, 6_400);
    assert_eq!((usage.level, usage.percent), (Critical, 110));
    assert_eq!((usage.remaining, usage.over), (0, 640));
    assert_eq!(
        usage.warning_line.as_deref(),
        Some("[Budget] Warning: 110% of token budget used. 0 tokens remaining, 640 over.")
    );
}

#[test]
fn zero_total_is_critical_once_tokens_are_used() {
    let nothing = once(0, 0);
    assert_eq!((nothing.level, nothing.percent, nothing.warning_line), (Normal, 0, None));
    assert_eq!(nothing.debug_line, "[Budget] Used 0 / 0 tokens (0%)");
    let some = once(3, 0);
    assert_eq!((some.level, some.percent, some.over), (Critical, 100, 3));
}

#[test]
fn levels_have_hysteresis() {
    let mut monitor = UsageMonitor::default();
    let used = [750, 800, 799, 700, 699, 750, 950, 900, 750, 901, 699];
    let expected = [
        Normal, Warning, Warning, Warning, Normal, Normal, Critical, Warning, Warning, Critical,
        Normal,
    ];
    assert_eq!(levels(&mut monitor, &used), expected);
    // The level is held, but unchanged, so there is no line.
    monitor.record(850, 1_000);
    let held = monitor.record(750, 1_000);
    assert_eq!((held.level, held.warning_line), (Warning, None));
    assert_eq!(monitor.level(), Warning);
    // A wider window lowers the level as well.
    assert_eq!(monitor.record(850, 2_000).level, Normal);
}

#[test]
fn thresholds_are_configurable() {
    let thresholds = UsageThresholds { warning: 0.9, critical: 0.95, clear: 0.5 };
    let mut monitor = UsageMonitor::new(thresholds).unwrap();
    let expected = [Normal, Warning, Warning, Critical, Warning, Normal];
    assert_eq!(levels(&mut monitor, &[899, 900, 950, 951, 500, 499]), expected);

    let same = UsageThresholds { warning: 1.0, critical: 1.0, clear: 1.0 };
    let mut monitor = UsageMonitor::new(same).unwrap();
    assert_eq!(
        levels(&mut monitor, &[999, 1_000, 1_001, 999]),
        [Normal, Warning, Critical, Normal]
    );
}

#[test]
fn invalid_thresholds_are_errors_with_the_numbers() {
    let rows = [(0.8, 0.7, 0.7), (0.8, 0.9, 0.81), (0.8, 1.1, 0.7), (0.8, 0.9, 0.0)];
    for (warning, critical, clear) in rows {
        let error = UsageMonitor::new(UsageThresholds { warning, critical, clear })
            .unwrap_err()
            .to_string();
        let numbers = format!("clear {clear}, warning {warning}, critical {critical}");
        assert!(error.ends_with(&numbers), "{error}");
    }
    for at in 0..3 {
        let bad = |n| if n == at { f64::NAN } else { 0.5 };
        let thresholds = UsageThresholds { warning: bad(0), critical: bad(1), clear: bad(2) };
        assert!(UsageMonitor::new(thresholds).is_err());
    }
}

#[test]
fn cooldown_separates_warning_lines() {
    let lines = |cooldown, used: &[u32]| -> Vec<bool> {
        let mut monitor = UsageMonitor::default().with_cooldown(cooldown);
        used.iter().map(|&used| monitor.record(used, 100).warning_line.is_some()).collect()
    };
    assert_eq!(lines(0, &[85; 4]), [true; 4]);
    assert_eq!(lines(2, &[85; 7]), [true, false, false, true, false, false, true]);
    // Records without a warning also count towards the cooldown, which does not delay the level.
    assert_eq!(lines(2, &[85, 10, 10, 95]), [true, false, false, true]);
    let mut monitor = UsageMonitor::default().with_cooldown(9);
    monitor.record(85, 100);
    let usage = monitor.record(95, 100);
    assert_eq!((usage.level, usage.warning_line), (Critical, None));
}

#[test]
fn debug_budget_variable_is_parsed_as_a_flag() {
    assert!(is_debug_budget_set(Some("1")));
    assert!(is_debug_budget_set(Some("yes")));
    for off in [None, Some(""), Some("0"), Some("false")] {
        assert!(!is_debug_budget_set(off), "{off:?}");
    }
}

#[test]
fn history_averages_usage_and_counts_overruns() {
    let mut history = UsageHistory::default();
    assert_eq!((history.avg_usage(), history.trend(), history.trend_line()), (None, None, None));
    assert_eq!(history.over_budget_count(), 0);

    for (total, used) in [(6_400, 3_200), (6_400, 6_401), (25_600, 25_600), (0, 1)] {
        history.record(Some("gpt-4"), total, used);
    }
    // The average is 35,202 ÷ 4 = 8,800.5.
    assert_eq!(history.avg_usage(), Some(8_801));
    assert_eq!(history.over_budget_count(), 2);
    assert_eq!(history.trend_line().unwrap(), "[Budget] Last 4 iterations avg: 8801 tokens");
    let last = history.entries().next_back().unwrap();
    assert_eq!((last.model.as_deref(), last.total, last.used), (Some("gpt-4"), 0, 1));
}

#[test]
fn trend_averages_the_last_five_records() {
    let mut history = UsageHistory::default();
    for used in [1_000_000, 10, 20, 30, 40, 52] {
        history.record(None, 100, used);
    }
    assert_eq!(history.trend(), Some(30));
    assert_eq!(history.trend_line().unwrap(), "[Budget] Last 5 iterations avg: 30 tokens");
}

#[test]
fn history_is_bounded_but_its_figures_are_exact() {
    let mut history = UsageHistory::default();
    for used in 0..3_000 {
        history.record(None, 1_499, used);
    }
    assert_eq!(history.entries().len(), UsageHistory::MAX_ENTRIES);
    assert_eq!(history.entries().next().unwrap().used, 2_900);
    assert_eq!(history.recorded(), 3_000);
    assert_eq!(history.avg_usage(), Some(1_500));
    assert_eq!(history.over_budget_count(), 1_500);
}
