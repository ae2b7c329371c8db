//! Rules for source files (RFC 0011).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{cycles, names, read, tracked};
use anyhow::Result;

/// The least number of lines of a source file.
const FILE_LINES_MIN: usize = 40;

/// Other files that may be shorter, each with the reason. Prefer to extend a neighboring file.
const SHORT_FILES: &[(&str, &str)] = &[
    ("bench/src/dedup.rs", "a list of modules"),
    ("bench/src/gateway.rs", "a list of modules"),
    ("crates/lcp-app/src/config/import.rs", "a section of lcp.toml"),
    ("crates/lcp-app/src/costs.rs", "shared by three modules"),
    ("crates/lcp-cli/src/commands/completions.rs", "a command"),
    ("crates/lcp-cli/src/commands/decode.rs", "a command"),
    ("crates/lcp-cli/src/commands/session/check.rs", "a command"),
    ("crates/lcp-cli/src/dedup_args.rs", "a group of flags"),
    ("crates/lcp-cli/src/property_args.rs", "a group of flags"),
    ("crates/lcp-cli/src/segment_args.rs", "a group of flags"),
    ("crates/lcp-driver/src/fmt.rs", "below all other files"),
    ("crates/lcp-tokens/src/boundary.rs", "a rule that several crates use"),
    ("xtask/src/agents.rs", "a task"),
];

/// Names of files that may be shorter: roots of crates, lists of modules, and tests.
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

/// Reports import cycles between the files of each crate.
fn cyclic(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let mut problems = Vec::new();
    for (krate, files) in by_crate(sources) {
        for root in ["lib.rs", "main.rs"] {
            for group in cycles::find(&files, Path::new(root)) {
                let names: Vec<_> = group.iter().map(|file| file.display().to_string()).collect();
                problems.push(format!("{}: import cycle: {}", krate.display(), names.join(", ")));
            }
        }
    }
    problems
}

/// Reports the items with names that [`names::banned`] finds.
fn named(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let banned = |(path, text): (&PathBuf, &String)| {
        let problem = |name| format!("{}: banned item name {name}", path.display());
        names::banned(text).into_iter().map(problem).collect::<Vec<_>>()
    };
    sources.iter().flat_map(banned).collect()
}

/// Reports short files that are not listed as exceptions, and listed exceptions that are not short.
fn short(sources: &BTreeMap<PathBuf, String>) -> Vec<String> {
    let is_short = |path: &Path| {
        let lines = sources.get(path).map_or(FILE_LINES_MIN, |text| text.lines().count());
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let in_src = path.components().any(|part| part.as_os_str() == "src");
        lines < FILE_LINES_MIN && in_src && !SHORT_BY_NATURE.contains(&name)
    };
    let is_exception = |path: &Path| SHORT_FILES.iter().any(|(known, _)| Path::new(known) == path);
    let short = sources.keys().filter(|path| is_short(path) && !is_exception(path));
    let short = short.map(|path| format!("{}: fewer than {FILE_LINES_MIN} lines", path.display()));
    let stale = SHORT_FILES.iter().filter(|(path, _)| !is_short(Path::new(path)));
    let stale = stale.map(|(path, _)| {
        format!("{path}: no longer short (SHORT_FILES in xtask/src/tidy/sources.rs)")
    });
    short.chain(stale).collect()
}

/// Returns the source files of each crate, by their paths below `src`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> BTreeMap<PathBuf, String> {
        files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect()
    }

    #[test]
    fn import_cycle_is_a_problem() {
        let lib = ("crates/x/src/lib.rs", "mod a; mod b;");
        let a = ("crates/x/src/a.rs", "use crate::b::B; pub struct A(B);");
        let b = ("crates/x/src/b.rs", "use crate::a::A; pub struct B(A);");
        assert_eq!(cyclic(&sources(&[lib, a, b])), ["crates/x: import cycle: a.rs, b.rs"]);
        let b = ("crates/x/src/b.rs", "pub struct B;");
        assert_eq!(cyclic(&sources(&[lib, a, b])), Vec::<String>::new());
    }

    #[test]
    fn banned_name_and_short_file_are_problems() {
        let files = sources(&[("crates/x/src/a.rs", "fn said() {}"), ("crates/x/src/lib.rs", "")]);
        assert_eq!(named(&files), ["crates/x/src/a.rs: banned item name said"]);
        let problems = short(&files);
        assert!(problems.contains(&"crates/x/src/a.rs: fewer than 40 lines".to_owned()));
        assert!(problems.iter().all(|problem| !problem.contains("lib.rs")), "{problems:?}");
    }
}
