//! Checks that `docs/requirements.md` names only tests that exist, and that each row has a way to
//! reach it, and a test, an issue or a reason for having no test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::read;
use anyhow::Result;

use crate::tools::{self, cargo};

const DOCUMENT: &str = "docs/requirements.md";

/// The ways in which a user reaches a requirement.
const WAYS: [&str; 4] = ["command: ", "mcp: ", "key: ", "library: "];

pub(super) fn check() -> Result<Vec<String>> {
    let table = read(Path::new(DOCUMENT))?;
    let mut problems = Vec::new();
    let tests = all_tests()?;
    for (number, line) in table.lines().enumerate() {
        let cells: Vec<_> = line.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') || cells[0] == "id" || cells[0].starts_with("---") {
            continue;
        }
        let mut wrong = |what: &str| problems.push(format!("{DOCUMENT}:{}: {what}", number + 1));
        let [_, _, reached, covered] = cells[..] else {
            wrong("the row does not have four cells");
            continue;
        };
        if !is_way(reached, covered) {
            wrong("reached by is not command:, mcp:, key: or library:, or – for a row with not:");
        }
        let Some(names) = covered.strip_prefix("test: ") else {
            if !covered.starts_with("issue ") && !covered.starts_with("not: ") {
                wrong("the last column is none of test:, issue N:, not:");
            }
            continue;
        };
        for name in names.split(", ") {
            let Some((package, test)) = name.split_once("::") else {
                wrong(&format!("{name} does not name a test"));
                continue;
            };
            if !tests.get(package).is_some_and(|tests| tests.contains(test)) {
                wrong(&format!("{name} does not exist"));
            }
        }
    }
    Ok(problems)
}

/// Returns whether `reached` has a valid form for a row with this last cell.
fn is_way(reached: &str, covered: &str) -> bool {
    if covered.starts_with("not: ") {
        return reached == "–";
    }
    reached.split("; ").all(|part| WAYS.iter().any(|way| part.starts_with(way)))
}

/// Returns the tests of each package, as its test programs list them. The build is the same as for
/// running the tests, so that nothing is built twice.
fn all_tests() -> Result<BTreeMap<String, BTreeSet<String>>> {
    let build = ["test", "--workspace", "--all-features", "--no-run", "--message-format=json"];
    let messages = tools::output(cargo(), &build)?;
    let mut tests: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for message in cargo_metadata::Message::parse_stream(messages.as_bytes())
        .filter_map(std::result::Result::ok)
    {
        let cargo_metadata::Message::CompilerArtifact(artifact) = message else { continue };
        let Some(program) = artifact.executable.filter(|_| artifact.profile.test) else { continue };
        let listed = tools::output(program.as_std_path(), &["--list"])?;
        let listed = listed.lines().filter_map(|line| line.strip_suffix(": test"));
        let package = package(&artifact.package_id.repr);
        tests.entry(package).or_default().extend(listed.map(str::to_owned));
    }
    Ok(tests)
}

/// Returns the name from the id of a package of this workspace: `path+file:///…/lcp-types#0.1.0`,
/// or `…#name@0.1.0` if the folder has another name.
fn package(id: &str) -> String {
    let (path, fragment) = id.rsplit_once('#').unwrap_or((id, ""));
    let of_path = || path.rsplit('/').next().unwrap_or_default();
    fragment.split_once('@').map_or_else(of_path, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_have_the_documented_forms() {
        for reached in
            ["command: `lcp render`", "mcp: `count`; key: `pack.hidden`", "library: a trait"]
        {
            assert!(is_way(reached, "test: a::b"), "{reached}");
        }
        for reached in ["", "–", "`lcp render`", "key:", "command: `lcp render`; with a flag"] {
            assert!(!is_way(reached, "test: a::b"), "{reached}");
        }
        assert!(is_way("–", "not: a reason") && !is_way("key: `pack.hidden`", "not: a reason"));
    }
}
