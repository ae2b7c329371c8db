#![expect(clippy::float_cmp, reason = "these results are exact")]

use super::bars::{BARS_MAX, bars, chosen};
use super::*;

const HEADING: &str =
    "| what | LCP | beside | | ratio | wanted | holds |\n|---|---|---|---|---|---|---|\n";

/// Returns the value and the limit of the only bar of a table with some rows.
#[track_caller]
fn only(rows: &str) -> (f64, Option<f64>, bool) {
    let bars = bars(&format!("{HEADING}{rows}"));
    let [bar] = bars.as_slice() else { panic!("{bars:?}") };
    (bar.value, bar.limit, bar.has_peer)
}

#[test]
fn axis_is_logarithmic_and_ends_at_ticks() {
    let axis = Axis::around([0.3, 8.0].into_iter());
    assert_eq!(axis.ends(), [0.2, 10.0]);
    assert_eq!([axis.x(0.2), axis.x(10.0)], AXIS);
    let middle = f64::midpoint(AXIS[0], AXIS[1]);
    assert!((axis.x(2.0_f64.sqrt()) - middle).abs() < 1e-9, "the geometric mean");
    let step = axis.x(2.0) - axis.x(1.0);
    assert!((axis.x(4.0) - axis.x(2.0) - step).abs() < 1e-9, "factors are distances");
    assert_eq!(Axis::around([1.0].into_iter()).ends(), [0.5, 2.0]);
    assert!(axis.lines().eq([0.2, 0.5, 1.0, 2.0, 5.0, 10.0]));
    // Longer values stop at the end.
    let axis = Axis::around([0.0, f64::INFINITY].into_iter());
    assert_eq!([axis.x(0.0), axis.x(20_000.0)], AXIS);
    assert!(!axis.contains(0.0) && !axis.contains(20_000.0));
    assert!(axis.lines().eq([0.01, 0.1, 1.0, 10.0, 100.0]));
}

#[test]
fn bar_and_limit_are_ratios_to_the_peer() {
    assert_eq!(only("| a | 2.00 ms | b | 3.00 ms | 1.50 | >= 1.2 | yes |"), (1.5, Some(1.2), true));
    // The ratio that LCP would have at its limit.
    assert_eq!(
        only("| a | 2.00 ms | b | 3.00 ms | 1.50 | &lt;= 6 ms | yes |"),
        (1.5, Some(0.5), true)
    );
    assert_eq!(only("| a | 80.0 % | b | 40.0 % | 2.00 | >= 60 % | yes |"), (2.0, Some(1.5), true));
    assert_eq!(only("| a | 2.00 ms | b | 3.00 ms | 1.50 |  |  |"), (1.5, None, true));
    // Not a time, so more is better.
    assert_eq!(only("| a | 2.00 tokens | b | 4.00 tokens | 0.500 |  |  |"), (0.5, None, true));
}

#[test]
fn bar_without_a_peer_shows_the_distance_to_the_limit() {
    let alone = |value| (value, Some(1.0), false);
    // LCP's figure divided by another of LCP.
    let table = "| a | 8.00 ms | b | 4.00 ms | 2.00 | &lt;= 3.0 | yes |";
    assert_eq!(only(table), alone(1.5));
    assert!(draw("x", table).contains(">LCP: 8.00 ms; b: 4.00 ms; ratio 2.00</text>"));
    assert_eq!(only("| a | 8.00 ms | b | 4.00 ms | 2.00 | &lt;= 4 ms | **no** |"), alone(0.5));
    // No ratio.
    assert_eq!(only("| a | 0.000 x | b | 4.00 x | – | &lt;= 0 x | yes |"), alone(1.0));
    assert_eq!(only("| a | 3.00 x | b | 0.000 x | – | &lt;= 0 x | **no** |"), alone(0.0));
    // A peer that could not be measured: no bar, but its limit is a row.
    let table = "| a | 3.00 ms | b | – ms | – | >= 2.0 | **no** |";
    let (value, limit, _) = only(table);
    assert!(value.is_nan() && limit.is_none());
    let svg = draw("x", table);
    assert!(svg.contains(">≥ 2.0, not met</text>") && !svg.contains("NaN"), "{svg}");
    // Neither a peer nor a limit: no bar.
    assert_eq!(bars("| a | 8.00 ms | b | 4.00 ms | 2.00 |  |  |"), []);
}

#[test]
fn strongest_peer_is_shown_and_absolute_limit_applies_to_all() {
    let rows = "| a | 2.00 ms | b | 8.00 ms | 4.00 | &lt;= 4 ms | yes |\n\
                | a | 2.00 ms | c | 3.00 ms | 1.50 |  |  |\n\
                | a | 2.00 ms | d | 4.00 ms | 2.00 |  |  |\n";
    assert_eq!(only(rows), (1.5, Some(0.75), true));
    // A limit of a ratio belongs to its peer.
    let rows = rows.replace("&lt;= 4 ms", ">= 3.0");
    let values: Vec<_> = bars(&rows).iter().map(|bar| (bar.value, bar.limit)).collect();
    assert_eq!(values, [(4.0, Some(3.0)), (1.5, None)]);
}

#[test]
fn rows_with_limits_are_chosen_first_in_table_order() {
    let row = |number: usize| {
        let wanted = match number {
            15 => ">= 2.0 | **no**",
            3.. => ">= 1.0 | yes",
            _ => " | ",
        };
        format!("| {number} | 2.00 ms | b | 3.00 ms | 1.50 | {wanted} |\n")
    };
    let table: String = (0..16).map(row).collect();
    let chosen = chosen(bars(&table));
    let names: Vec<_> = chosen.iter().map(|bar| bar.what.as_str()).collect();
    assert_eq!(names, ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "15"]);
    assert_eq!(names.len(), BARS_MAX);
    assert!(draw("x", &table).contains("12 of 16 comparisons"));
}

#[test]
fn texts_are_escaped_and_truncated() {
    let table = "| a\\|b &lt;c> & \"d\" | 2.00 ms | e | 3.00 ms | 1.50 | &lt;= 1 ms | **no** |";
    let svg = draw("x & y", table);
    assert!(svg.contains(">a|b &lt;c&gt; &amp; \"d\"</text>"), "{svg}");
    assert!(
        svg.contains("<title id=\"title\">x &amp; y: LCP compared with peers and limits</title>")
    );
    assert!(svg.contains(">≤ 1 ms, not met</text>") && svg.contains(FAILED), "{svg}");
    assert!(
        svg.contains(">LCP: 2.00 ms; e: 3.00 ms</text>") && svg.contains(">1.50×</text>"),
        "{svg}"
    );
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("abcd", 3), "ab…");
}
