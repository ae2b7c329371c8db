//! `tidy`: checks of the architecture, the documents and the sizes of files, which the compiler
//! does not make.

mod cycles;
mod dependencies;
mod documents;
mod names;
mod prose;
mod requirements;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use cargo_metadata::{DependencyKind, MetadataCommand};

pub(crate) use dependencies::workspaces;

use crate::tools::{self, cargo};

/// The allowed dependencies of each crate. Any other dependency is a problem. ARCHITECTURE.md has
/// the same table.
const MAY_USE: &[(&str, &[&str])] = &[
    ("lcp-types", &[]),
    ("lcp-decoder", &["lcp-types"]),
    ("lcp-encoder", &["lcp-types"]),
    ("lcp-packfile", &["lcp-types", "lcp-decoder", "lcp-encoder"]),
    ("lcp-tokens", &[]),
    ("lcp-driver", &["lcp-types", "lcp-tokens"]),
    ("lcp-dedup", &["lcp-types", "lcp-tokens"]),
    ("lcp-store", &["lcp-types"]),
    (
        "lcp-continuity",
        &[
            "lcp-types", "lcp-tokens", "lcp-driver", "lcp-encoder", "lcp-decoder", "lcp-store",
            "lcp-secrets",
        ],
    ),
    ("lcp-transcripts", &["lcp-types"]),
    ("lcp-secrets", &["lcp-types"]),
    // Uses the diff parser of `lcp-transcripts` and the process runner of `lcp-continuity`.
    ("lcp-ingest", &["lcp-types", "lcp-secrets", "lcp-transcripts", "lcp-continuity"]),
    // Uses the definitions and the past commits of `lcp-ingest`.
    ("lcp-rank", &["lcp-types", "lcp-ingest"]),
    (
        "lcp-app",
        &[
            "lcp-types", "lcp-decoder", "lcp-encoder", "lcp-packfile", "lcp-tokens", "lcp-driver",
            "lcp-dedup", "lcp-continuity", "lcp-transcripts", "lcp-secrets", "lcp-ingest",
            "lcp-rank",
        ],
    ),
    (
        "lcp-mcp",
        &[
            "lcp-app", "lcp-types", "lcp-decoder", "lcp-packfile", "lcp-tokens", "lcp-driver",
            "lcp-dedup", "lcp-continuity", "lcp-ingest",
        ],
    ),
    ("lcp-gateway", &["lcp-app", "lcp-driver", "lcp-store", "lcp-tokens", "lcp-transcripts"]),
    (
        "lcp-cli",
        &[
            "lcp-app", "lcp-gateway", "lcp-mcp", "lcp-types", "lcp-decoder", "lcp-encoder",
            "lcp-packfile", "lcp-tokens", "lcp-driver", "lcp-dedup", "lcp-continuity",
            "lcp-transcripts", "lcp-ingest",
        ],
    ),
    (
        "lcp-testkit",
        &[
            "lcp-types", "lcp-decoder", "lcp-encoder", "lcp-packfile", "lcp-tokens", "lcp-driver",
            "lcp-dedup", "lcp-store", "lcp-continuity", "lcp-transcripts", "lcp-ingest",
        ],
    ),
    ("xtask", &[]),
];

/// The crates that a crate must not depend on, even indirectly, with its default features.
const MUST_NOT_USE: &[(&str, &[&str])] = &[
    ("lcp-types", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode"]),
    ("lcp-decoder", &["tokio", "clap", "tiktoken-rs", "anyhow", "serde", "bincode"]),
    ("lcp-encoder", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode"]),
    ("lcp-tokens", &["tokio", "clap", "tiktoken-rs", "bincode"]),
    ("lcp-driver", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode"]),
    ("lcp-store", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite"]),
    ("lcp-transcripts", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite"]),
    ("lcp-rank", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite", "lcp-driver"]),
    ("lcp-secrets", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite"]),
    ("lcp-ingest", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite"]),
    ("lcp-dedup", &["tokio", "clap", "tiktoken-rs", "anyhow", "bincode", "rusqlite"]),
];

/// The only sources that may use `unsafe`. Each gives its reason where it lifts the lint.
const UNSAFE: &[&str] = &[
    "crates/lcp-decoder/src/read_at/map.rs", "bench/src/bin/bench/main.rs", "bench/src/scale.rs",
    "python/src/column.rs",
];

/// The largest number of lines of a source file.
const FILE_LINES_MAX: usize = 600;

pub(crate) fn run() -> Result<ExitCode> {
    let mut problems = arrows()?;
    problems.extend(sizes()?);
    problems.extend(unsafe_code()?);
    problems.extend(dependencies::check()?);
    problems.extend(documents::check()?);
    problems.extend(prose::check()?);
    problems.extend(requirements::check()?);
    problems.extend(sources::check()?);
    if problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    bail!("{} problems", problems.len())
}

/// Reports the dependencies that [`MAY_USE`] does not allow or [`MUST_NOT_USE`] forbids.
fn arrows() -> Result<Vec<String>> {
    let metadata = MetadataCommand::new().current_dir(crate::workspace()).exec()?;
    let ours: Vec<_> = metadata.workspace_packages();
    let mut problems = Vec::new();
    for package in &ours {
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name.as_str())
        else {
            problems.push(format!(
                "{} has no row in the table of dependencies (xtask/src/tidy.rs)",
                package.name
            ));
            continue;
        };
        let forbidden = MUST_NOT_USE.iter().find(|(name, _)| *name == package.name.as_str());
        for dependency in package.dependencies.iter().filter(|d| d.kind == DependencyKind::Normal) {
            let name = dependency.name.as_str();
            let is_ours = ours.iter().any(|package| package.name.as_str() == name);
            if is_ours && !allowed.contains(&name) {
                problems.push(format!("{} must not use {name}", package.name));
            }
        }
        for name in forbidden.map_or(&[][..], |(_, names)| names) {
            if tree(package.name.as_str())?.iter().any(|used| used == name) {
                problems.push(format!("{} must not depend on {name}", package.name));
            }
        }
    }
    Ok(problems)
}

/// Returns every crate that `package` builds with by default, including itself.
fn tree(package: &str) -> Result<Vec<String>> {
    let arguments =
        ["tree", "-p", package, "-e", "normal", "--prefix", "none", "--format", "{lib}"];
    let lines = tools::output(cargo(), &arguments)?;
    Ok(lines.lines().map(|line| line.trim().replace('_', "-")).collect())
}

/// Returns the files that match `pattern` and that git tracks or would track.
fn tracked(pattern: &str) -> Result<Vec<PathBuf>> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "--", pattern];
    let names = tools::output("git", &arguments)?;
    let exists = |name: &&str| crate::workspace().join(name).is_file();
    Ok(names.lines().filter(exists).map(PathBuf::from).collect())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(crate::workspace().join(path))
        .with_context(|| format!("cannot read {}", path.display()))
}

/// Reports source files with too many lines. A file should have one idea.
fn sizes() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for path in tracked("*.rs")? {
        let lines = read(&path)?.lines().count();
        if lines > FILE_LINES_MAX {
            problems.push(format!("{}: {lines} lines, more than {FILE_LINES_MAX}", path.display()));
        }
    }
    Ok(problems)
}

/// Reports files that lift the lint against `unsafe` but are not in [`UNSAFE`], and listed files
/// that do not lift it.
fn unsafe_code() -> Result<Vec<String>> {
    // Written in two parts so that this file does not match.
    let lint = concat!("unsafe", "_code, reason");
    let mut problems = Vec::new();
    for path in tracked("*.rs")? {
        let is_listed = UNSAFE.iter().any(|listed| path == Path::new(listed));
        if read(&path)?.contains(lint) != is_listed {
            let what = if is_listed { "no longer uses unsafe" } else { "must not use unsafe" };
            problems.push(format!("{} {what} (UNSAFE in xtask/src/tidy.rs)", path.display()));
        }
    }
    Ok(problems)
}
