//! Documents name only files, crates and RFCs that exist.

use std::path::Path;

use super::{read, tracked};
use anyhow::Result;

/// Words in backticks that begin like this are paths from the root.
const PATHS: &[&str] =
    &["crates/", "xtask/", "samples/", "docs/", "rfcs/", "bench/", ".ci/", ".cargo/", "fuzz/"];

/// The rendering that the README shows.
const SHOWN_IN_README: &str = "samples/rendered/priorities.100.txt";

pub(super) fn check() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for document in tracked("*.md")? {
        let text = read(&document)?;
        for (number, line) in text.lines().enumerate() {
            for word in line.split('`').skip(1).step_by(2).flat_map(str::split_whitespace) {
                if names_nothing(word) {
                    let place = format!("{}:{}", document.display(), number + 1);
                    problems.push(format!("{place}: {word} does not exist"));
                }
            }
        }
    }
    // What the README shows is what a sample renders to.
    if !read(Path::new("README.md"))?.contains(&read(Path::new(SHOWN_IN_README))?) {
        problems.push(format!("README.md does not show {SHOWN_IN_README}"));
    }
    for (number, path) in rfcs_named()? {
        if !rfc_exists(number)? {
            problems.push(format!("{path}: RFC {number:04} does not exist"));
        }
    }
    Ok(problems)
}

fn names_nothing(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ':', ';']);
    let path = word.split_once("::").map_or(word, |(path, _)| path);
    let is_pattern = path.contains(['*', '{', '<', '…']) || path.contains("NAME");
    PATHS.iter().any(|start| path.starts_with(start))
        && !is_pattern
        && !crate::workspace().join(path).exists()
}

/// The RFCs that source files cite, each with one file that does.
fn rfcs_named() -> Result<Vec<(u32, String)>> {
    let mut named: Vec<(u32, String)> = Vec::new();
    for path in tracked("crates/*.rs")? {
        for (at, mark) in read(&path)?.match_indices("RFC ") {
            let text = read(&path)?;
            let digits = text.get(at + mark.len()..at + mark.len() + 4).unwrap_or_default();
            if let Ok(number) = digits.parse()
                && !named.iter().any(|(known, _)| *known == number)
            {
                named.push((number, path.display().to_string()));
            }
        }
    }
    Ok(named)
}

fn rfc_exists(number: u32) -> Result<bool> {
    let start = format!("{number:04}-");
    let rfcs = tracked("rfcs/*.md")?;
    Ok(rfcs
        .iter()
        .filter_map(|path| path.file_name()?.to_str())
        .any(|name| name.starts_with(&start)))
}
