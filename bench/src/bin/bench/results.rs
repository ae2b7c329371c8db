//! The rows of all benchmarks, as the table that the document has of them.

use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

/// Where they are written.
const DOCUMENT: &str = "docs/benchmarks.md";

/// What stands around them there.
const BEGIN: &str = "<!-- results: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of results -->\n";

/// What a benchmark prints.
#[derive(Deserialize)]
struct Report {
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

/// Writes a report, given as JSON, into `docs/benchmarks.md`.
pub(super) fn write_document(json: &str) -> Result<(), Box<dyn std::error::Error>> {
    let report: Report = serde_json::from_str(json)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(DOCUMENT);
    let document = std::fs::read_to_string(&path)?;
    let document = write(&document, &report).ok_or_else(|| format!("{DOCUMENT} has no results"))?;
    Ok(std::fs::write(path, document)?)
}

/// The document with these results in place of those that it has of the same benchmark, the
/// others kept; `None` if it has no place for any.
fn write(document: &str, report: &Report) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (body, after) = rest.split_once(END)?;
    let mut sections: Vec<_> = body.split_inclusive("\n\n").map(str::to_owned).collect();
    // A section is a title and a table, with an empty line between them.
    let title = format!("**`{}`**\n\n", report.bench);
    match sections.iter().position(|section| *section == title) {
        Some(at) if at + 1 < sections.len() => sections[at + 1] = table(&report.rows),
        _ => sections.extend([title, table(&report.rows)]),
    }
    Some(format!("{before}{BEGIN}{}{END}{after}", sections.concat()))
}

/// The rows, as a table with an empty line behind it.
fn table(rows: &[Row]) -> String {
    let mut table = String::from(
        "| what | LCP | beside | | ratio | wanted | holds |\n|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        // Writing to a string cannot fail.
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
    table + "\n"
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

    fn report(bench: &str, what: &str) -> Report {
        let json = format!(
            r#"{{"bench": "{bench}", "rows": [{{"what": "{what}", "lcp": 1234.5, "peer": 0.5,
            "peer_name": "itself", "ratio": null, "unit": "ms", "wanted": "<= 3.0",
            "holds": false, "note": "left out"}}]}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn results_take_the_place_of_those_before() {
        let document = format!("# Title\n{BEGIN}{END}The end.\n");
        let written = write(&document, &report("plan", "a|b")).unwrap();
        assert!(written.starts_with("# Title\n") && written.ends_with("The end.\n"));
        let row = "| a\\|b | 1234 ms | itself | 0.500 ms | – | &lt;= 3.0 | **no** |\n";
        assert!(written.contains(row), "{written}");
        let both = write(&written, &report("fill", "first")).unwrap();
        assert!(both.contains(row) && both.contains("| first |"), "{both}");
        let again = write(&both, &report("plan", "second")).unwrap();
        assert!(!again.contains(row) && again.contains("| second |"), "{again}");
        assert!(again.contains("| first |") && again.ends_with("The end.\n"));
        assert_eq!(write("no place", &report("plan", "")), None);
    }
}
