//! Truncation of reports.

use serde_json::json;

use super::*;

#[test]
fn long_report_lists_are_truncated() {
    let row = json!({ "label": "a".repeat(ROWS_BYTES_MAX / 4) });
    let mut report = json!({
        "used_tokens": 7,
        "blocks": vec![json!({ "index": 0 }); ROWS_MAX + 5],
        "cuts": vec![row; 5],
        "warnings": [{ "code": "x" }],
    });
    let more = shorten_report(&mut report);
    let wanted = [("blocks".to_owned(), 5), ("cuts".to_owned(), 2)];
    assert_eq!(more, BTreeMap::from(wanted));
    let count = |name: &str| report[name].as_array().unwrap().len();
    assert_eq!((count("blocks"), count("cuts"), count("warnings")), (ROWS_MAX, 3, 1));
    assert_eq!(report["used_tokens"], 7);
}
