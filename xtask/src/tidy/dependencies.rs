//! Checks that `docs/dependencies.md` has a row for every dependency, and for nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

use super::{read, tracked};
use anyhow::Result;

const DOCUMENT: &str = "docs/dependencies.md";

/// The marks in the first column for programs that come from a registry and are not in a manifest.
const REGISTRIES: [&str; 3] = ["(PyPI)", "(npm)", "(crate)"];

/// Returns the manifests of all workspaces: this one, and the independent ones.
pub(crate) fn workspaces() -> Result<Vec<PathBuf>> {
    let mut workspaces = Vec::new();
    for manifest in tracked("*Cargo.toml")? {
        if read(&manifest)?.lines().any(|line| line.starts_with("[workspace]")) {
            workspaces.push(manifest);
        }
    }
    Ok(workspaces)
}

/// Names of dependencies, each with a version. In the document, the version may be a prefix.
type Named = BTreeSet<(String, String)>;

pub(super) fn check() -> Result<Vec<String>> {
    let (mut told, mut crates) = (Named::new(), Named::new());
    for line in read(Path::new(DOCUMENT))?.lines() {
        let Some(cell) = line.strip_prefix("| ").and_then(|row| row.split(" | ").next()) else {
            continue;
        };
        let named = cell_names(cell);
        if !REGISTRIES.iter().any(|registry| cell.contains(registry)) {
            crates.extend(named.iter().cloned());
        }
        told.extend(named);
    }
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for manifest in workspaces()? {
        for (package, name, version) in wanted(&manifest)? {
            if !is_told(&told, &name, &version) {
                problems.push(format!("{DOCUMENT} has no row for {name} {version} of {package}"));
            }
            used.insert(name);
        }
    }
    let gone = crates.iter().filter(|(name, _)| !used.contains(name));
    problems.extend(gone.map(|(name, _)| format!("{DOCUMENT}: no package depends on {name}")));
    Ok(problems)
}

/// Returns the external dependencies of a workspace: the package that has it, the name and the
/// version of each.
fn wanted(manifest: &Path) -> Result<Vec<(String, String, String)>> {
    let metadata =
        MetadataCommand::new().manifest_path(crate::workspace().join(manifest)).no_deps().exec()?;
    let of_package = |package: &cargo_metadata::Package| {
        let others = package.dependencies.iter().filter(|wanted| wanted.path.is_none());
        let wanted = |wanted: &cargo_metadata::Dependency| {
            let version = wanted.req.to_string();
            let version = version.trim_start_matches(['^', '=', ' ']).to_owned();
            (package.name.to_string(), wanted.name.clone(), version)
        };
        others.map(wanted).collect::<Vec<_>>()
    };
    Ok(metadata.workspace_packages().into_iter().flat_map(of_package).collect())
}

/// Returns the names in a cell of the table. Each has the version that follows it, or the version
/// of the next name that has one.
fn cell_names(cell: &str) -> Named {
    let mut named = Named::new();
    let mut waiting = Vec::new();
    let mut parts = cell.split('`').skip(1);
    while let (Some(name), behind) = (parts.next(), parts.next().unwrap_or_default()) {
        waiting.push(name.to_owned());
        let version = behind.trim_start().split([' ', ',', '|']).next().unwrap_or_default();
        if version.starts_with(|c: char| c.is_ascii_digit()) {
            named.extend(waiting.drain(..).map(|name| (name, version.to_owned())));
        }
    }
    // A name without a version matches no dependency.
    named.extend(waiting.into_iter().map(|name| (name, "without a version".to_owned())));
    named
}

fn is_told(told: &Named, name: &str, version: &str) -> bool {
    told.iter().any(|(known, start)| {
        let rest = (known == name).then(|| version.strip_prefix(start.as_str())).flatten();
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependency_name_uses_the_next_version_in_its_cell() {
        let named = cell_names("`a` 0.14, `b`, `c-d` 1.0.0-rc.3");
        let of = |name: &str, version: &str| is_told(&named, name, version);
        assert!(of("a", "0.14") && of("a", "0.14.3") && of("b", "1.0.0-rc.3"));
        assert!(!of("a", "0.1") && !of("a", "0.141") && !of("a", "0.15.0") && !of("d", "0.14"));
        assert!(!is_told(&cell_names("`a`"), "a", "0.14"));
    }

    #[test]
    fn dependency_document_is_current_and_covers_bench() {
        assert_eq!(check().unwrap(), Vec::<String>::new());
        let workspaces = workspaces().unwrap();
        for manifest in ["Cargo.toml", "bench/Cargo.toml"] {
            assert!(workspaces.contains(&PathBuf::from(manifest)), "{workspaces:?}");
        }
    }
}
