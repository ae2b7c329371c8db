//! Runs `git` so that its output does not depend on the configuration of the user.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lcp_types::limits;

use crate::error::{Error, ErrorKind, Result};
use crate::paths::escape;

/// The number of bytes to keep of the standard error of git. The rest is discarded.
const STDERR_MAX: u64 = 64 << 10;

/// Values for settings that could change the output or run another program.
const SETTINGS: [&str; 8] = [
    "core.quotePath=false", "core.fsmonitor=false", "diff.noprefix=false",
    "diff.mnemonicPrefix=false", "diff.suppressBlankEmpty=false", "diff.algorithm=myers",
    "diff.indentHeuristic=true", "diff.orderFile=/dev/null",
];

/// Environment variables to remove before git is run in another folder. Hooks set them to select another repository, another index or
/// other path rules.
pub const GIT_ENVIRONMENT: [&str; 12] = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_DIFF_OPTS", "GIT_EXTERNAL_DIFF",
];

/// The `git` command in a folder.
pub(crate) struct Git<'f> {
    folder: &'f Path,
}

impl<'f> Git<'f> {
    pub(crate) fn in_folder(folder: &'f Path) -> Self {
        let here = folder.as_os_str().is_empty();
        Self { folder: if here { Path::new(".") } else { folder } }
    }

    /// Runs a subcommand and returns its standard output.
    pub(crate) fn run<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Result<Vec<u8>> {
        let mut command = Command::new("git");
        command.arg("--no-pager").arg("--literal-pathspecs");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        for name in GIT_ENVIRONMENT {
            command.env_remove(name);
        }
        let mut child = command
            .args(arguments)
            .current_dir(self.folder)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("LC_ALL", "C")
            // Git must not ask for a password or fetch missing objects.
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| {
                Error::io("run", "git", &error)
                    .with_hint("install git, or omit --since, --diff and --commits")
            })?;
        let stderr = child.stderr.take();
        let stderr_reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut stderr) = stderr {
                // Git would block if its standard error were not read to the end.
                let _ = stderr.by_ref().take(STDERR_MAX).read_to_end(&mut bytes);
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            }
            bytes
        });
        let max = limits::TOTAL_DECOMPRESSED_BYTES_MAX;
        let mut output = Vec::new();
        let stdout = child.stdout.take().map(|stdout| stdout.take(max + 1));
        let read = stdout.map(|mut stdout| stdout.read_to_end(&mut output)).transpose();
        let is_too_long = output.len() as u64 > max;
        if is_too_long || read.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| Error::io("run", "git", &error))?;
        let stderr = stderr_reader.join().unwrap_or_default();
        read.map_err(|error| Error::io("read the output of", "git", &error))?;
        if is_too_long {
            return Err(Error::too_many_bytes());
        }
        if status.success() { Ok(output) } else { Err(git_error(&stderr)) }
    }

    pub(crate) fn commit(&self, revision: &str) -> Result<String> {
        let unknown = || {
            let message = format!("unknown git revision {revision:?}");
            Error::invalid(message).with_hint("run `git log` or `git branch` to list revisions")
        };
        if revision.is_empty() || revision.starts_with('-') || revision.contains('\0') {
            return Err(unknown());
        }
        // This call fails first if the repository is missing, with an error that says so.
        self.run(&["rev-parse", "--git-dir"])?;
        let commit = format!("{revision}^{{commit}}");
        let hash = self
            .run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])
            .map_err(|_| if revision == "HEAD" { no_commit() } else { unknown() })?;
        let hash = String::from_utf8_lossy(&hash).trim().to_owned();
        let is_hash = !hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { Ok(hash) } else { Err(unknown()) }
    }
}

fn no_commit() -> Error {
    Error::invalid("the repository has no commits yet")
        .with_hint("commit first, or omit --since and --diff")
}

fn git_error(stderr: &[u8]) -> Error {
    let stderr = String::from_utf8_lossy(stderr);
    let line = stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("no error message");
    let error = Error::new(ErrorKind::Io, format!("git failed: {}", escape(line.trim())));
    if line.contains("not a git repository") {
        return error.with_hint("--since and --diff need a PATH in a git repository");
    }
    error
}

#[cfg(test)]
mod tests;
