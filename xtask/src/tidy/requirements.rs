//! `docs/requirements.md` names only tests that exist, and leaves no row open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{cargo, read};
use lcp_cli::Result;

const DOCUMENT: &str = "docs/requirements.md";

pub(super) fn check() -> Result<Vec<String>> {
    let table = read(Path::new(DOCUMENT))?;
    let mut problems = Vec::new();
    let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (number, line) in table.lines().enumerate() {
        let cells: Vec<_> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|')
            || cells.len() != 3
            || cells[0] == "id"
            || cells[0].starts_with("---")
        {
            continue;
        }
        let mut wrong = |what: &str| problems.push(format!("{DOCUMENT}:{}: {what}", number + 1));
        let Some(names) = cells[2].strip_prefix("test: ") else {
            if !cells[2].starts_with("issue ") && !cells[2].starts_with("not: ") {
                wrong("the last column is none of test:, issue N:, not:");
            }
            continue;
        };
        for name in names.split(", ") {
            let Some((package, test)) = name.split_once("::") else {
                wrong(&format!("{name} names no test"));
                continue;
            };
            if !tests.contains_key(package) {
                tests.insert(package.to_owned(), tests_of(package)?);
            }
            if !tests[package].contains(test) {
                wrong(&format!("{name} does not exist"));
            }
        }
    }
    Ok(problems)
}

/// The tests of a package, as cargo prints them; none if there is no such package.
fn tests_of(package: &str) -> Result<BTreeSet<String>> {
    if !crate::workspace().join("crates").join(package).is_dir() && package != "xtask" {
        return Ok(BTreeSet::new());
    }
    let listed =
        cargo(&["test", "-q", "-p", package, "--all-features", "--all-targets", "--", "--list"])?;
    Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}
