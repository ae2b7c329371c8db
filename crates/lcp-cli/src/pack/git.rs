//! Running `git`: what it prints, whatever the configuration says.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lcp_types::limits;

use super::read::too_much;
use super::walk::said;
use crate::Result;
use crate::failure::{Code, Failure};

/// Bytes of what git says of an error that are read.
const SAID_BYTES: u64 = 64 << 10;

/// Settings that would change what is printed, or run something else.
const SETTINGS: [&str; 8] = [
    "core.quotePath=false",
    "core.fsmonitor=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.suppressBlankEmpty=false",
    "diff.algorithm=myers",
    "diff.indentHeuristic=true",
    "diff.orderFile=/dev/null",
];

/// What says that the repository is another one than that of the folder, or what paths
/// mean: hooks have them set.
const UNWANTED: [&str; 12] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_DIFF_OPTS",
    "GIT_EXTERNAL_DIFF",
];

/// git in a folder.
pub(super) struct Git<'f> {
    folder: &'f Path,
}

impl<'f> Git<'f> {
    pub(super) fn in_folder(folder: &'f Path) -> Self {
        let here = folder.as_os_str().is_empty();
        Self { folder: if here { Path::new(".") } else { folder } }
    }

    /// What it prints.
    ///
    /// # Errors
    ///
    /// There is no git, it fails, or it prints more than a pack can hold.
    pub(super) fn prints<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("--literal-pathspecs");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for name in UNWANTED {
            command.env_remove(name);
        }
        let mut child = command
            .args(arguments)
            .current_dir(self.folder)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            // Nobody is asked for a password, and nothing is fetched.
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                Failure::io("run", "git", &error)
                    .hint("--since and --diff need git: install it, or pack without them")
            })?;
        let stderr = child.stderr.take();
        let complaint = std::thread::spawn(move || {
            let mut said = Vec::new();
            if let Some(mut stderr) = stderr {
                // What is not read would block git.
                let _ = stderr.by_ref().take(SAID_BYTES).read_to_end(&mut said);
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            }
            said
        });
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        let mut printed = Vec::new();
        let stdout = child.stdout.take().map(|stdout| stdout.take(max + 1));
        let read = stdout.map(|mut stdout| stdout.read_to_end(&mut printed)).transpose();
        let is_too_much = printed.len() as u64 > max;
        if is_too_much || read.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| Failure::io("run", "git", &error))?;
        let complaint = complaint.join().unwrap_or_default();
        read.map_err(|error| Failure::io("read what is printed by", "git", &error))?;
        if is_too_much {
            return Err(too_much());
        }
        if status.success() { Ok(printed) } else { Err(failed(&complaint)) }
    }

    /// The commit that a revision is.
    ///
    /// # Errors
    ///
    /// There is none, or no repository.
    pub(super) fn commit(&self, revision: &str) -> Result<String> {
        let wrong = || {
            let message = format!("git knows no revision {revision:?}");
            Failure::new(Code::Usage, message).hint("`git log` and `git branch` list what it knows")
        };
        if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return Err(wrong());
        }
        // Without a repository, that is said.
        self.prints(&["rev-parse", "--git-dir"])?;
        let commit = format!("{revision}^{{commit}}");
        let hash = self
            .prints(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
            .map_err(|_| if revision == "HEAD" { no_commit() } else { wrong() })?;
        let hash = String::from_utf8_lossy(&hash).trim().to_owned();
        let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { Ok(hash) } else { Err(wrong()) }
    }
}

fn no_commit() -> Failure {
    Failure::new(Code::Usage, "the repository has no commit yet that anything differs from")
        .hint("pack without --since and --diff, or commit first")
}

fn failed(complaint: &[u8]) -> Failure {
    let complaint = String::from_utf8_lossy(complaint);
    let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    let failure = Failure::new(Code::Io, format!("git failed: {}", said(line.trim())));
    if line.contains("not a git repository") {
        return failure.hint("--since and --diff need a PATH within a git repository");
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_complains_of_is_one_line() {
        let failure = failed(b"\nfatal: \x1b[31mno\nmore\n");
        assert_eq!(failure.message, r"git failed: fatal: \u{1b}[31mno");
        assert!(failed(b"fatal: not a git repository (or any)\n").hint.is_some());
        assert!(failed(b"").message.ends_with("it says nothing"));
    }
}
