//! Rules for source files that only shrinking lists of exceptions may break (RFC 0011).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::exceptions::{BANNED_NAMES, CYCLIC_FILES, SHORT_FILES};
use super::{cycles, names, read, tracked};
use anyhow::Result;

/// Lines of the shortest source file.
const FILE_LINES_MIN: usize = 40;

/// Files that may be short: the root of a binary, and lists of modules.
const SHORT_BY_NATURE: &[&str] = &["main.rs", "lib.rs", "mod.rs", "build.rs", "tests.rs"];

pub(super) fn check() -> Result<Vec<String>> {
    let mut sources = BTreeMap::new();
    for path in tracked("*.rs")? {
        let text = read(&path)?;
        sources.insert(path, text);
    }
    let mut problems = cyclic(&sources);
    problems.extend(named(&sources));
    problems.extend(short(&sources));
    Ok(problems)
}

/// Files that import each other in a circle.
fn cyclic(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut in_cycles = BTreeSet::new();
    for (krate, files) in by_crate(sources) {
        for root in ["lib.rs", "main.rs"] {
            for group in cycles::find(&files, Path::new(root)) {
                in_cycles.extend(group.into_iter().map(|file| krate.join("src").join(file)));
            }
        }
    }
    let is_cyclic = |path: &Path| in_cycles.contains(path);
    compare("import cycle", in_cycles.iter().map(PathBuf::as_path), CYCLIC_FILES, is_cyclic)
}

/// Items that have names of [`names::banned`].
fn named(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut counts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in sources {
        let depth = if path.starts_with("crates") { 2 } else { 1 };
        let area: PathBuf = path.components().take(depth).collect();
        let names = names::banned(text).into_iter();
        let names = names.map(|name| format!("{} in {}", name, path.display()));
        counts.entry(area.display().to_string()).or_default().extend(names);
    }
    let allowed = |area: &str| {
        BANNED_NAMES.iter().find(|(name, _)| *name == area).map_or(0, |(_, count)| *count)
    };
    let mut problems = Vec::new();
    for (area, names) in &counts {
        let (count, allowed) = (names.len(), allowed(area));
        if count > allowed {
            problems.push(format!(
                "{area}: {count} items have banned names, {allowed} may: {}",
                names.join(", ")
            ));
        } else if count < allowed {
            problems.push(format!(
                "{area}: only {count} items have banned names: lower BANNED_NAMES in \
                 xtask/src/tidy/exceptions.rs from {allowed}"
            ));
        }
    }
    let gone = BANNED_NAMES.iter().filter(|(area, _)| !counts.contains_key(*area));
    problems.extend(gone.map(|(area, _)| format!("{area} in BANNED_NAMES does not exist")));
    problems
}

/// Files so short that they belong into another.
fn short(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let is_short = |path: &Path| {
        let lines = sources.get(path).map_or(FILE_LINES_MIN, |text| text.lines().count());
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let in_src = path.components().any(|part| part.as_os_str() == "src");
        lines < FILE_LINES_MIN && in_src && !SHORT_BY_NATURE.contains(&name)
    };
    let paths = sources.keys().map(PathBuf::as_path).filter(|path| is_short(path));
    compare("file of less than 40 lines", paths, SHORT_FILES, is_short)
}

/// Reports the files that break a rule and are no exception, and exceptions that keep it.
fn compare<'p>(
    rule: &str,
    breaking: impl Iterator<Item = &'p Path>,
    exceptions: &[&str],
    breaks: impl Fn(&Path) -> bool,
) -> Vec<String> {
    let is_exception = |path: &&Path| exceptions.iter().any(|known| Path::new(known) == *path);
    let new = breaking.filter(|path| !is_exception(path));
    let mut problems: Vec<_> = new.map(|path| format!("{}: {rule}", path.display())).collect();
    let stale = exceptions.iter().filter(|path| !breaks(Path::new(path)));
    problems.extend(stale.map(|path| {
        format!("{path}: no {rule} any more: remove it from xtask/src/tidy/exceptions.rs")
    }));
    problems
}

/// The source files of each crate, by their paths below `src`.
fn by_crate(sources: &BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, BTreeMap<PathBuf, String>> {
    let mut crates: BTreeMap<PathBuf, BTreeMap<PathBuf, String>> = BTreeMap::new();
    for (path, text) in sources {
        let at = path.components().position(|part| part.as_os_str() == "src");
        if let Some(at) = at {
            let krate = path.components().take(at).collect();
            let file = path.components().skip(at + 1).collect();
            crates.entry(krate).or_default().insert(file, text.clone());
        }
    }
    crates
}
