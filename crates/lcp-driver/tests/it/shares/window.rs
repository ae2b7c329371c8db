//! RFC 0004 §2: the available part of a window.

use expect_test::expect;
use lcp_driver::window::{ContextWindow, DEFAULT_SAFETY, WindowError};

fn with_safety(tokens: u32, safety: f64) -> ContextWindow {
    ContextWindow { safety, ..ContextWindow::from_model(tokens) }
}

#[test]
fn model_window_has_four_fifths_available() {
    let rows = [(4_096, 3_276), (8_192, 6_553), (32_768, 26_214), (200_000, 160_000)];
    for (window, available) in rows {
        assert_eq!(ContextWindow::from_model(window).available(), Ok(available));
    }
    // A window of 1 token would have nothing left.
    assert_eq!(ContextWindow::from_model(2).available(), Ok(1));
    assert!(ContextWindow::from_model(1).available().is_err());
    for window in (2..20_000).chain((u32::MAX - 20)..=u32::MAX) {
        assert_eq!(ContextWindow::from_model(window).available(), Ok(window - window.div_ceil(5)));
    }
}

#[test]
fn explicit_total_is_not_reduced() {
    assert_eq!(ContextWindow::from_total(100_000).available(), Ok(100_000));
    assert_eq!(ContextWindow::from_total(u32::MAX).available(), Ok(u32::MAX));
}

#[test]
fn safety_factor_is_configurable() {
    assert_eq!(ContextWindow::from_model(8_192), with_safety(8_192, 0.8));
    assert_eq!(ContextWindow::from_model(8_192), with_safety(8_192, DEFAULT_SAFETY));
    assert_eq!(with_safety(8_192, 0.7).available(), Ok(5_734));
    assert_eq!(with_safety(10, 0.1 + 0.2).available(), Ok(3));
    // In floating point, these two products are 57.99 and 28.99.
    assert_eq!(with_safety(100, 0.58).available(), Ok(58));
    assert_eq!(with_safety(100, 0.29).available(), Ok(29));
    // This factor is a little below 0.1.
    assert_eq!(with_safety(10, 1.0 - 0.9).available(), Ok(1));
    for safety in [0.0, -0.8, 1.000_001, f64::NAN, f64::INFINITY] {
        let error = with_safety(8_192, safety).available().unwrap_err();
        assert!(matches!(error, WindowError::Safety { .. }), "{error}");
        assert!(error.to_string().ends_with(&safety.to_string()), "{error}");
    }
    assert!(with_safety(8_192, 1e-12).available().is_err());
}

#[test]
fn reserves_are_subtracted() {
    assert_eq!(ContextWindow::from_model(8_192).with_reserves(500, 1_000).available(), Ok(5_053));
    assert_eq!(
        ContextWindow::from_total(100_000).with_reserves(2_000, 8_000).available(),
        Ok(90_000)
    );
    assert_eq!(ContextWindow::from_total(10).with_reserves(4, 5).available(), Ok(1));
}

#[test]
fn exhausted_window_is_an_error_with_all_numbers() {
    let error =
        ContextWindow::from_model(8_192).with_reserves(2_000, 8_000).available().unwrap_err();
    expect!["no budget left: window 8192 × safety 0.8 = 6553 tokens, minus 2000 (system prompt) and 8000 (response)"]
        .assert_eq(&error.to_string());
    assert!(ContextWindow::from_total(10).with_reserves(5, 5).available().is_err());
    assert!(
        ContextWindow::from_total(u32::MAX).with_reserves(u32::MAX, u32::MAX).available().is_err()
    );
}
