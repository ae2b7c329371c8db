//! The rows of all benchmarks, as the table that the document has of them.

use std::fmt::Write as _;

use serde::Deserialize;

/// Where they are written.
pub(super) const DOCUMENT: &str = "docs/benchmarks.md";

/// What stands around them there.
const BEGIN: &str = "<!-- results: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of results -->\n";

/// What a benchmark prints.
#[derive(Deserialize)]
pub(super) struct Report {
    bench: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    what: String,
    /// Null where it is no number.
    lcp: Option<f64>,
    peer: Option<f64>,
    peer_name: String,
    ratio: Option<f64>,
    unit: String,
    wanted: Option<String>,
    holds: Option<bool>,
}

/// The document with these results in place of those that it has; `None` if it has
/// no place for any.
pub(super) fn write(document: &str, reports: &[Report]) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    let mut table = String::new();
    for Report { bench, rows } in reports {
        // Writing to a string cannot fail.
        _ = write!(
            table,
            "\n**`{bench}`**\n\n| what | LCP | beside | | ratio | wanted | holds |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for row in rows {
            _ = writeln!(
                table,
                "| {} | {} {} | {} | {} {} | {} | {} | {} |",
                cell(&row.what),
                figure(row.lcp),
                row.unit,
                cell(&row.peer_name),
                figure(row.peer),
                row.unit,
                figure(row.ratio),
                row.wanted.as_deref().map(cell).unwrap_or_default(),
                row.holds.map_or("", |holds| if holds { "yes" } else { "**no**" }),
            );
        }
    }
    Some(format!("{before}{BEGIN}{table}\n{END}{after}"))
}

/// A figure of three digits, or more where there are more before the point.
fn figure(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return "–".into() };
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Text that does not end its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_take_the_place_of_those_before() {
        let json = r#"{"bench": "plan", "rows": [{"what": "a|b", "lcp": 1234.5, "peer": 0.5,
            "peer_name": "itself", "ratio": null, "unit": "ms", "wanted": "<= 3.0",
            "holds": false, "note": "left out"}]}"#;
        let report: Report = serde_json::from_str(json).unwrap();
        let document = format!("# Title\n{BEGIN}stale\n{END}The end.\n");
        let written = write(&document, &[report]).unwrap();
        assert!(!written.contains("stale"));
        assert!(written.starts_with("# Title\n") && written.ends_with("The end.\n"));
        let row = "| a\\|b | 1234 ms | itself | 0.500 ms | – | &lt;= 3.0 | **no** |\n";
        assert!(written.contains(row), "{written}");
        let again = write(&written, &[]).unwrap();
        assert!(!again.contains("a\\|b"));
        assert_eq!(write("no place", &[]), None);
    }
}
