//! Plans by value in reports.

use expect_test::expect;
use lcp_driver::report::{TableOptions, to_json, to_table};
use lcp_driver::{Objective, Plan, ValueModel};
use serde_json::{Value, json};

use super::{by_value, empty_plan};

fn report(plan: &Plan) -> Value {
    serde_json::from_str(&to_json(plan)).unwrap()
}

#[test]
fn report_always_names_the_objective() {
    let strict = report(&empty_plan(100, 0));
    assert_eq!((&strict["objective"], strict.get("value")), (&"strict".into(), None));
    // There is no certificate if old parts were kept.
    let kept = Plan { objective: Objective::Value(ValueModel::default()), ..empty_plan(100, 0) };
    assert_eq!((&report(&kept)["objective"], report(&kept).get("value")), (&"value".into(), None));
    assert!(!to_table(&kept, &TableOptions::default()).contains("Objective"));
}

#[test]
fn report_has_value_bound_and_gap() {
    let value = |value, bound| report(&by_value(value, bound))["value"].clone();
    assert_eq!(
        value(123_456, 123_999),
        json!({
            "value": 123_456, "bound": 123_999, "lp_bound": 124_000, "gap": 0.00438, "best": false,
        })
    );
    assert_eq!(
        value(7, 7),
        json!({ "value": 7, "bound": 7, "lp_bound": 8, "gap": 0.0, "best": true })
    );
}

/// A reported gap is an upper bound.
#[test]
fn reported_gap_is_never_rounded_down() {
    for (value, bound) in [(2, 3), (999_999_999, 1_000_000_000), (u64::MAX - 2, u64::MAX - 1)] {
        let plan = by_value(value, bound);
        let gap = report(&plan)["value"]["gap"].as_f64().unwrap();
        let exact = plan.optimality.unwrap().relative_gap();
        assert!(gap >= exact && gap > 0.0 && gap <= exact + 1e-6, "{gap}, not {exact}");
    }
}

#[test]
fn table_shows_value_and_gap() {
    let table = |plan: &Plan| to_table(plan, &TableOptions { width: 0, ..TableOptions::default() });
    expect![[r"
        Token Budget Report
        ────────────────────
        Total Budget: 90,000

        Total Used: 51,700 / 90,000 (57%)
        Objective: value 123,456 of at most 123,999 (gap 0.44%)
    "]]
    .assert_eq(&table(&by_value(123_456, 123_999)));
    assert!(table(&by_value(5, 5)).ends_with("\nObjective: value 5, proven optimal\n"));
}
