//! The results in `docs/benchmarks.md`: a title, a chart and a table for each benchmark. For
//! programs, `docs/benchmarks.json` has the same rows.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Result;
use crate::chart;
use crate::table::Report;

const DOCUMENT: &str = "docs/benchmarks.md";
const REPORTS: &str = "docs/benchmarks.json";

/// The lines around the results.
const BEGIN: &str = "<!-- results: written by `cargo xtask bench` -->\n";
const END: &str = "<!-- end of results -->\n";

/// Writes a report into `docs/benchmarks.md` and `docs/benchmarks.json`, and draws the charts of
/// all tables.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written, or if the document has no place for
/// results.
pub fn write(report: &Report) -> Result {
    let path = path(DOCUMENT);
    let document = std::fs::read_to_string(&path)?;
    let document =
        replace(&document, report).ok_or_else(|| format!("{DOCUMENT} has no results"))?;
    std::fs::write(path, &document)?;
    for (path, svg) in charts(&document) {
        std::fs::write(path, svg)?;
    }
    write_json(report)
}

/// Writes a report into the list of reports, in place of the one before.
fn write_json(report: &Report) -> Result {
    let path = self::path(REPORTS);
    let mut reports: Vec<Value> = match std::fs::read(&path) {
        Ok(json) => serde_json::from_slice(&json)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    reports.retain(|other| other["bench"] != report.bench);
    reports.push(serde_json::to_value(report)?);
    reports.sort_by(|a, b| a["bench"].as_str().cmp(&b["bench"].as_str()));
    std::fs::write(path, serde_json::to_string_pretty(&reports)? + "\n")?;
    Ok(())
}

/// Replaces the results of a benchmark in a document. Returns `None` if the document has no place
/// for results.
#[must_use]
pub fn replace(document: &str, report: &Report) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (body, after) = rest.split_once(END)?;
    let mut blocks: Vec<_> = body.split_inclusive("\n\n").map(str::to_owned).collect();
    let section = section(report.bench, &report.to_markdown());
    let start = blocks.iter().position(|block| *block == section[0]).unwrap_or(blocks.len());
    let mut following = start + 1..blocks.len();
    let end = following.find(|at| name(&blocks[*at]).is_some()).unwrap_or(blocks.len());
    blocks.splice(start..end, section);
    Some(format!("{before}{BEGIN}{}{END}{after}", blocks.concat()))
}

/// Returns the blocks of a section, each with an empty line after it.
fn section(bench: &str, table: &str) -> [String; 3] {
    let alt = format!("Chart of {bench}: LCP compared with peers and limits");
    [
        format!("**`{bench}`**\n\n"),
        format!("![{alt}](images/bench-{bench}.svg)\n\n"),
        format!("{table}\n"),
    ]
}

/// Returns the name of a benchmark if a block is the title of its section.
fn name(block: &str) -> Option<&str> {
    block.strip_prefix("**`")?.strip_suffix("`**\n\n")
}

/// Draws the charts of all tables of a document. Returns their files and contents.
#[must_use]
pub fn charts(document: &str) -> Vec<(PathBuf, String)> {
    let body = document.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let blocks: Vec<_> = body.unwrap_or_default().0.split_inclusive("\n\n").collect();
    let chart = |section: &[&str]| {
        let bench = name(section[0])?;
        Some((path(&format!("docs/images/bench-{bench}.svg")), chart::draw(bench, section[2])))
    };
    blocks.windows(3).filter_map(chart).collect()
}

/// Returns the path of a file in the repository.
fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file)
}

#[cfg(test)]
mod tests;
