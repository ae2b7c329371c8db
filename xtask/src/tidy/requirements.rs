//! Checks that `docs/requirements.md` names only tests that exist, and that each row has a test, an
//! issue or a reason for having no test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::read;
use anyhow::Result;

use crate::tools::{self, cargo};

const DOCUMENT: &str = "docs/requirements.md";

pub(super) fn check() -> Result<Vec<String>> {
    let table = read(Path::new(DOCUMENT))?;
    let mut problems = Vec::new();
    let tests = all_tests()?;
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
