//! What a benchmark says: figures, what is wanted of them, and whether it is so.

use lcp_bench::table::{Better, Report, Row, Wanted};
use serde_json::json;

fn speed(lcp: f64, peer: f64) -> Row {
    Row::new("speed", Better::Higher, "MB/s", lcp, "another", peer)
}

fn time(lcp: f64, peer: f64) -> Row {
    Row::new("time", Better::Lower, "ms", lcp, "another", peer)
}

#[track_caller]
fn check(row: Row, wanted: Wanted, holds: bool) {
    let row = row.wants(wanted);
    assert_eq!(row.holds(), Some(holds), "{row:?}");
}

#[test]
fn ratio_shows_how_many_times_better() {
    assert!((speed(300.0, 200.0).ratio() - 1.5).abs() < 1e-9);
    assert!((time(200.0, 300.0).ratio() - 1.5).abs() < 1e-9);
    let row = Row::with_itself("long", "ns/byte", 30.0, "short", 20.0);
    assert!((row.ratio() - 1.5).abs() < 1e-9);
}

#[test]
fn holds_compares_the_row_with_its_limit() {
    check(speed(200.0, 200.0), Wanted::RatioAtLeast(1.0), true);
    check(speed(199.0, 200.0), Wanted::RatioAtLeast(1.0), false);
    check(time(199.0, 200.0), Wanted::RatioAtLeast(1.0), true);
    check(time(201.0, 200.0), Wanted::RatioAtLeast(1.0), false);
    check(time(100.0, 300.0), Wanted::RatioAtMost(3.0), true);
    check(time(99.0, 300.0), Wanted::RatioAtMost(3.0), false);
    check(time(100.0, 1.0), Wanted::OwnAtMost(100.0), true);
    check(time(101.0, 1000.0), Wanted::OwnAtMost(100.0), false);
}

/// A benchmark that measured nothing shows nothing.
#[test]
fn nan_never_meets_a_limit() {
    check(speed(f64::NAN, 1.0), Wanted::RatioAtLeast(1.0), false);
    check(speed(0.0, 0.0), Wanted::RatioAtMost(1.0), false);
    check(time(f64::NAN, 1.0), Wanted::OwnAtMost(100.0), false);
}

#[test]
fn json_has_the_documented_fields() {
    let rows = vec![
        time(2.0, 3.0).wants(Wanted::RatioAtLeast(1.5)),
        time(200.0, 300.0).wants(Wanted::OwnAtMost(100.0)).notes(Some("a note".to_owned())),
        speed(3.0, 2.0).worst(2.5, 1.5),
    ];
    let found = serde_json::to_value(Report { bench: "any", rows }).unwrap();
    let expected = json!({
        "bench": "any",
        "rows": [
            {
                "what": "time", "lcp": 2.0, "peer": 3.0, "peer_name": "another", "ratio": 1.5,
                "unit": "ms", "wanted": ">= 1.5", "holds": true,
            },
            {
                "what": "time", "lcp": 200.0, "peer": 300.0, "peer_name": "another", "ratio": 1.5,
                "unit": "ms", "wanted": "<= 100 ms", "holds": false, "note": "a note",
            },
            {
                "what": "speed", "lcp": 3.0, "peer": 2.0, "peer_name": "another", "ratio": 1.5,
                "unit": "MB/s", "wanted": null, "holds": null, "lcp_worst": 2.5, "peer_worst": 1.5,
            },
        ],
    });
    assert_eq!(found, expected);
}

#[test]
fn table_has_aligned_columns() {
    let rows = vec![
        speed(300.0, 20.0).wants(Wanted::RatioAtLeast(1.0)).worst(2.5, 0.125),
        time(20.0, 10.0).wants(Wanted::RatioAtLeast(1.0)).notes(Some("a note".to_owned())),
    ];
    let shown = Report { bench: "any", rows }.to_string();
    let expected = "\
measurement  peer      LCP  worst  peer  worst  unit  ratio  target  met  note
speed        another   300   2.50  20.0  0.125  MB/s  15.00  >= 1.0  yes
time         another  20.0         10.0         ms     0.50  >= 1.0  NO   a note
";
    assert_eq!(shown, expected);
}
