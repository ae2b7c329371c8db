//! Past commits with their messages and files, from git.

use std::path::Path;

use crate::cache::Cache;
use crate::commit_log::shallow_commits;
use crate::error::Result;
use crate::git::Git;
use crate::paths;

/// A commit of the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The hash.
    pub hash: String,
    /// The message.
    pub message: String,
    /// The files that the commit changed. Those in the folder are named relative to it, others by
    /// their path in the repository after `/`.
    pub files: Vec<String>,
}

/// Returns the newest `count` commits before and including HEAD, newest first, without merges. The
/// list is empty if the folder is not in a git repository, or if that has no commits. Commits are
/// cached by the hash of HEAD, unless one has a secret.
///
/// # Errors
///
/// Returns an error if git cannot run.
pub fn commits(folder: &Path, count: u32, cache: Option<&Cache>) -> Result<Vec<Commit>> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let Some(top) = paths::repository(&folder) else { return Ok(Vec::new()) };
    let git = Git::in_folder(&top);
    let Ok(head) = git.commit("HEAD") else { return Ok(Vec::new()) };
    let mut command = vec![
        "log".to_owned(),
        "--no-color".to_owned(),
        "--no-show-signature".to_owned(),
        "--no-ext-diff".to_owned(),
        "--no-merges".to_owned(),
        "--no-renames".to_owned(),
        "--name-only".to_owned(),
        "--format=%x01%H%n%B%x02".to_owned(),
        format!("--max-count={count}"),
        head,
    ];
    let shallow = shallow_commits(&git, &top);
    if !shallow.is_empty() {
        command.push("--not".to_owned());
        command.extend(shallow);
    }
    command.push("--".to_owned());
    let question: Vec<_> = command.iter().map(String::as_bytes).collect();
    let key = Cache::key(&question);
    let output = if let Some(output) = cache.and_then(|cache| cache.get(&key)) {
        output
    } else {
        let output = git.run(&command)?;
        if let Some(cache) = cache.filter(|_| lcp_secrets::find(&output).is_empty()) {
            cache.put(&key, &output);
        }
        output
    };
    let prefix = folder.strip_prefix(&top).ok().and_then(Path::to_str).unwrap_or_default();
    let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
    Ok(parse(&String::from_utf8_lossy(&output), &prefix))
}

/// Returns the files below a folder that HEAD has, named relative to the folder. The list is empty
/// without a repository or commits.
///
/// # Errors
///
/// Returns an error if git cannot run.
pub fn committed_files(folder: &Path) -> Result<Vec<String>> {
    let git = Git::in_folder(folder);
    let Ok(head) = git.commit("HEAD") else { return Ok(Vec::new()) };
    let output = git.run(&["ls-tree", "-r", "-z", "--name-only", &head])?;
    let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// Parses the output of git.
fn parse(output: &str, prefix: &str) -> Vec<Commit> {
    let commit = |entry: &str| {
        let (head, files) = entry.split_once('\u{2}')?;
        let (hash, message) = head.split_once('\n')?;
        let name = |path: &str| match path.strip_prefix(prefix) {
            Some(below) => below.to_owned(),
            None => format!("/{path}"),
        };
        let files = files.lines().filter(|path| !path.is_empty()).map(name).collect();
        Some(Commit { hash: hash.to_owned(), message: message.trim().to_owned(), files })
    };
    output.split('\u{1}').filter_map(commit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_relative_to_the_folder() {
        let output = "\u{1}abc\nfix: doors\n\nThey open.\n\u{2}\n\nlib/src/door.rs\nREADME.md\n";
        let commits = parse(output, "lib/");
        let files = vec!["src/door.rs".to_owned(), "/README.md".to_owned()];
        let message = "fix: doors\n\nThey open.".to_owned();
        assert_eq!(commits, [Commit { hash: "abc".to_owned(), message, files }]);
    }
}
