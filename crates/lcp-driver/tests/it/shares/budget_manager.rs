//! The budget manager tests of Task 016.c, under their names.

use lcp_driver::shares::{BudgetError, ContextBudget, ShareBudget, Shares};
use lcp_driver::window::{ContextWindow, WindowError};

/// Returns the window in the document: 100,000 tokens less 2,000 and 8,000.
fn window() -> ContextWindow {
    ContextWindow::from_total(100_000).with_reserves(2_000, 8_000)
}

fn budget() -> ContextBudget {
    Shares::agent().divide(window().available().unwrap())
}

#[test]
fn should_calculate_total_available() {
    assert_eq!(window().available(), Ok(90_000));
}

#[test]
fn should_apply_system_reserve() {
    assert_eq!(ContextWindow::from_total(100_000).with_reserves(2_000, 0).available(), Ok(98_000));
    assert_eq!(ContextWindow::from_total(100_000).with_reserves(2_001, 0).available(), Ok(97_999));
}

#[test]
fn should_apply_response_reserve() {
    assert_eq!(ContextWindow::from_total(100_000).with_reserves(0, 8_000).available(), Ok(92_000));
    assert_eq!(ContextWindow::from_total(100_000).with_reserves(0, 8_001).available(), Ok(91_999));
}

#[test]
fn should_allocate_categories() {
    let tokens: Vec<_> =
        budget().shares().iter().map(|share| (share.name.clone(), share.tokens)).collect();
    let expected = [
        ("tool_results", 36_000),
        ("open_files", 27_000),
        ("search_results", 18_000),
        ("references", 9_000),
    ];
    assert_eq!(tokens, expected.map(|(name, tokens)| (name.to_owned(), tokens)));
}

#[test]
fn should_track_consumption() {
    let mut budget = budget();
    assert_eq!(budget.consume(10_000, "tool_results"), Ok(()));
    assert_eq!(budget.consume(2_500, "tool_results"), Ok(()));
    assert_eq!(budget.consume(18_200, "open_files"), Ok(()));
    assert_eq!(budget.used("tool_results"), Some(12_500));
    assert_eq!(budget.get("tool_results").unwrap().remaining(), 23_500);
    assert_eq!(budget.used("references"), Some(0));
    assert_eq!(budget.used_total(), 30_700);
}

#[test]
fn should_enforce_total_limit() {
    let mut budget = budget();
    assert!(!budget.can_fit(90_001, "tool_results"));
    let error = budget.consume(90_001, "tool_results").unwrap_err();
    assert_eq!(error.code(), "LCP-BUD-001");
    assert_eq!(error.to_string(), "cannot use 90,001 tokens: 0 of the budget of 90,000 are used");

    for name in ["tool_results", "open_files", "search_results", "references"] {
        budget.consume(budget.tokens(name).unwrap(), name).unwrap();
    }
    let full = budget.clone();
    let error = budget.consume(1, "references").unwrap_err();
    assert_eq!(error, BudgetError::Total { tokens: 1, used: 90_000, total: 90_000 });
    assert_eq!(budget, full, "nothing is consumed on error");
}

#[test]
fn should_enforce_category_limit() {
    let mut budget = budget();
    budget.consume(5_200, "references").unwrap();
    let before = budget.clone();
    assert!(budget.can_fit(3_800, "references"));
    assert!(!budget.can_fit(3_801, "references"));
    let error = budget.consume(3_801, "references").unwrap_err();
    assert_eq!(error.code(), "LCP-BUD-002");
    assert_eq!(
        error.to_string(),
        "cannot use 3,801 tokens for `references`: 5,200 of its 9,000 are used"
    );
    assert_eq!(budget, before, "nothing is consumed on error");

    // A cap holds even if the share is larger.
    let mut capped = Shares::agent().with_cap("open_files", 100).unwrap().divide(90_000);
    assert_eq!(capped.consume(101, "open_files").unwrap_err().code(), "LCP-BUD-002");
    assert_eq!(capped.consume(100, "open_files"), Ok(()));

    let error = budget.consume(0, "open_file").unwrap_err();
    assert_eq!(error.code(), "unknown_category");
    assert_eq!(error.to_string(), "category `open_file` has no share");
    assert!(!budget.can_fit(0, "open_file"));
}

#[test]
fn should_report_remaining() {
    let mut budget = budget();
    let used = [
        ("tool_results", 12_500, 35),
        ("open_files", 18_200, 67),
        ("search_results", 15_800, 88),
        ("references", 5_200, 58),
    ];
    for (name, tokens, percent) in used {
        budget.consume(tokens, name).unwrap();
        assert_eq!(budget.get(name).unwrap().percent(), percent, "{name}");
    }
    assert_eq!(budget.used_total(), 51_700);
    assert_eq!(budget.percent(), 57);
    assert_eq!(budget.remaining(), 38_300);
    let left: Vec<u32> = budget.shares().iter().map(ShareBudget::remaining).collect();
    assert_eq!(left, [23_500, 8_800, 2_200, 3_800]);
}

#[test]
fn should_handle_zero_budget() {
    let mut budget = Shares::agent().divide(0);
    assert!(budget.shares().iter().all(|share| share.tokens == 0 && share.percent() == 0));
    assert_eq!((budget.remaining(), budget.percent(), budget.scaling()), (0, 0, None));
    assert!(budget.can_fit(0, "references"));
    assert_eq!(budget.consume(1, "references").unwrap_err().code(), "LCP-BUD-001");
    assert_eq!(budget.adjust_for_total(100).tokens("open_files"), Some(30));

    assert!(matches!(
        ContextWindow::from_total(0).available(),
        Err(WindowError::NothingLeft { .. })
    ));
}
