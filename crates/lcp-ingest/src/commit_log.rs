//! The last commits of a repository and their files, from git.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::git::Git;
use crate::paths::{self, Root};

/// The title of a log.
const TITLE: &str = "git log";

/// The maximum number of paths that select commits. For more, all commits of the repository count.
const PATHS_MAX: usize = 256;

/// Returns the titles and texts of the logs, one for each repository: the newest `count` commits
/// that change something below the roots, newest first, without merges.
pub(crate) fn logs(roots: &[Root], base: &Path, count: u32) -> Result<Vec<(String, String)>> {
    let mut repositories: BTreeMap<PathBuf, Vec<OsString>> = BTreeMap::new();
    for root in roots {
        // `..` and links would hide that two roots are in one repository.
        let path = root.path.canonicalize().unwrap_or_else(|_| root.path.clone());
        let folder = if root.is_folder { Some(path.as_path()) } else { path.parent() };
        let top = folder.and_then(paths::repository).ok_or_else(|| {
            let message = format!("{} is not in a git repository", paths::escape(&root.name()));
            Error::invalid(message).with_hint("omit --commits")
        })?;
        repositories.entry(top).or_default().push(path.into_os_string());
    }
    let is_one = repositories.len() == 1;
    let logs = repositories.into_iter().map(|(top, mut selected)| {
        if selected.len() > PATHS_MAX {
            selected.clear();
        }
        let title = match top.file_name().filter(|_| !is_one) {
            Some(name) => format!("{TITLE} of {}", name.to_string_lossy()),
            None => TITLE.to_owned(),
        };
        Ok((title, log(&top, base, count, selected)?))
    });
    logs.collect()
}

fn log(top: &Path, base: &Path, count: u32, selected: Vec<OsString>) -> Result<String> {
    let git = Git::in_folder(top);
    let head = git.commit("HEAD")?;
    let mut arguments: Vec<OsString> = [
        "log", "--no-color", "--no-show-signature", "--no-ext-diff", "--no-merges",
        "--find-renames", "--name-status", "--abbrev=10", "--date=short",
        // The lines of messages are indented, and git quotes control characters in names.
        "--format=%x01%h %ad %an%n%w(0,4,4)%B",
    ]
    .map(OsString::from)
    .to_vec();
    arguments.extend([format!("--max-count={count}").into(), head.into()]);
    let shallow = shallow_commits(&git, top);
    if !shallow.is_empty() {
        arguments.push("--not".into());
        arguments.extend(shallow.into_iter().map(OsString::from));
    }
    arguments.push("--".into());
    arguments.extend(selected);
    let output = git.run(&arguments)?;
    let output = String::from_utf8_lossy(&output);
    // Files are named as in the pack if the pack is made in the repository.
    let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let prefix = base.canonicalize().ok().and_then(|base| {
        let prefix = base.strip_prefix(top).ok()?.to_str()?.to_owned();
        (!prefix.is_empty()).then(|| prefix + "/")
    });
    Ok(to_text(&output, prefix.as_deref().unwrap_or("")))
}

/// Returns the oldest commits of a shallow clone. Without their parents, they seem to add all files.
pub(crate) fn shallow_commits(git: &Git<'_>, top: &Path) -> Vec<String> {
    let Ok(path) = git.run(&["rev-parse", "--git-path", "shallow"]) else { return Vec::new() };
    let path = top.join(String::from_utf8_lossy(&path).trim_end());
    let commits = std::fs::read_to_string(path).unwrap_or_default();
    commits.lines().map(str::to_owned).collect()
}

/// The first character of a commit in the output of git.
const COMMIT: char = '\u{1}';

/// Returns the commits with their files. An empty line follows each.
fn to_text(output: &str, prefix: &str) -> String {
    let mut text = String::new();
    for line in output.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        if let Some(head) = line.strip_prefix(COMMIT) {
            let newline = if text.is_empty() { "" } else { "\n" };
            text.extend([newline, head, "\n"]);
            continue;
        }
        match line.split_once('\t').filter(|_| !line.starts_with(' ')) {
            // The status of a rename has a number, such as R086.
            Some((status, names)) => {
                let names: Vec<_> = names.split('\t').map(|name| relative(name, prefix)).collect();
                let status = status.get(..1).unwrap_or(status);
                text.extend([status, " ", &names.join(" -> "), "\n"]);
            }
            None => text.extend([line, "\n"]),
        }
    }
    text
}

/// Returns a path of the repository, relative to the folder `prefix` of it.
fn relative(name: &str, prefix: &str) -> String {
    if let Some(quoted) = name.strip_prefix('"') {
        return format!("\"{}", relative(quoted, prefix));
    }
    match name.strip_prefix(prefix) {
        Some(below) => below.to_owned(),
        None => "../".repeat(prefix.matches('/').count()) + name,
    }
}
