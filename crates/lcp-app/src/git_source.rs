//! Git repositories as sources of a pack: shallow clones in the cache folder, made by the user's
//! git.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, ErrorKind, Result};
use crate::folders;
use crate::reporter::Reporter;

/// The schemes of addresses that are passed to git.
const SCHEMES: [&str; 5] = ["https://", "http://", "ssh://", "git://", "file://"];

/// The prefix of a repository on GitHub.
const GITHUB: &str = "gh:";

/// The name of the folder for clones in the cache folder.
const CLONES: &str = "lcp/repositories";

/// A git repository, and the revision to pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// The address for git.
    pub url: String,
    /// A branch, a tag or a commit; `None` for the default branch.
    pub revision: Option<String>,
}

impl GitSource {
    /// Parses `gh:OWNER/REPO`, the address of a repository (`https://…`, `ssh://…`, `git@HOST:PATH`,
    /// …), or one of them with `@REVISION`. Returns `None` for a path.
    ///
    /// ```
    /// use lcp_app::git_source::GitSource;
    ///
    /// let source = GitSource::parse("gh:tokio-rs/tokio@v1.0").unwrap();
    /// assert_eq!(source.url, "https://github.com/tokio-rs/tokio.git");
    /// assert_eq!(source.revision.as_deref(), Some("v1.0"));
    /// assert_eq!(GitSource::parse("src/main.rs"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_url = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
        let is_ssh_address = || text.strip_prefix("git@").is_some_and(|rest| rest.contains(':'));
        let repository = text.strip_prefix(GITHUB);
        if !is_url && repository.is_none() && !is_ssh_address() {
            return None;
        }
        let (address, revision) = match revision_at(text) {
            Some(at) => (&text[..at], Some(text[at + 1..].to_owned())),
            None => (text, None),
        };
        let url = match address.strip_prefix(GITHUB) {
            None => address.to_owned(),
            Some(repository) => {
                let (owner, name) = repository.split_once('/')?;
                let is_name = |name: &str| {
                    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
                    !name.is_empty() && name.chars().all(is_part)
                };
                if !is_name(owner) || !is_name(name) {
                    return None;
                }
                format!("https://github.com/{}.git", repository.trim_end_matches(".git"))
            }
        };
        Some(Self { url, revision })
    }

    /// Fetches the newest state of the revision into the cache folder, with the last `commits` and
    /// one more, and returns the folder of its files. Git may ask for credentials.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no cache folder, or if git is missing or fails.
    pub fn check_out(&self, commits: u32, reporter: &dyn Reporter) -> Result<PathBuf> {
        let cache = folders::cache_dir(|name| std::env::var_os(name)).ok_or_else(|| {
            let message = "cannot clone a repository: there is no folder for caches";
            Error::new(ErrorKind::Io, message).with_hint("set HOME, or XDG_CACHE_HOME")
        })?;
        // The revision is part of the key, so that two runs do not change each other's files.
        let key = format!("{}\n{}", self.url, self.revision.as_deref().unwrap_or_default());
        let key = blake3::hash(key.as_bytes()).to_hex();
        let name = self.url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = name.trim_end_matches(".git");
        let name = if name.is_empty() || name == ".." { "repository" } else { name };
        let folder = cache.join(CLONES).join(&key[..16]).join(name);
        std::fs::create_dir_all(&folder)
            .map_err(|error| Error::io("create", folder.display(), &error))?;
        reporter.note(&format!("fetching {}", self.shown_url()));
        let is_locked = || {
            let locks = ["index.lock", "shallow.lock"];
            locks.iter().any(|lock| folder.join(".git").join(lock).exists())
        };
        match self.fetch(&folder, commits) {
            // An interrupted run left a lock. After other errors, the clone is still good.
            Err(_) if is_locked() => {
                std::fs::remove_dir_all(&folder)
                    .and_then(|()| std::fs::create_dir_all(&folder))
                    .map_err(|error| Error::io("replace", folder.display(), &error))?;
                self.fetch(&folder, commits)?;
            }
            result => result?,
        }
        Ok(folder)
    }

    fn fetch(&self, folder: &Path, commits: u32) -> Result<()> {
        // The changes of the oldest commit are unknown.
        let depth = format!("--depth={}", commits.saturating_add(1));
        let revision = self.revision.as_deref().unwrap_or("HEAD");
        for arguments in [
            &["init", "--quiet"][..],
            &["fetch", "--quiet", "--no-tags", "--force", &depth, "--", &self.url, revision],
            &["-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", "FETCH_HEAD"],
            // Files of an earlier fetch.
            &["clean", "--quiet", "-ffdx"],
        ] {
            self.run(folder, arguments)?;
        }
        Ok(())
    }

    /// Returns the address without the user and the password.
    fn shown_url(&self) -> String {
        let shown = self.url.split_once("://").and_then(|(scheme, rest)| {
            let (user, host) = rest.split_once('@')?;
            (!user.contains('/')).then(|| format!("{scheme}://{host}"))
        });
        shown.unwrap_or_else(|| self.url.clone())
    }

    fn run(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("git");
        for name in lcp_ingest::GIT_ENVIRONMENT {
            command.env_remove(name);
        }
        let output = command
            .args(arguments)
            .current_dir(folder)
            // Large files are left out, as in other folders.
            .env("GIT_LFS_SKIP_SMUDGE", "1")
            .env("LC_ALL", "C")
            .stdin(Stdio::inherit())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(std::process::Child::wait_with_output)
            .map_err(|error| Error::io("run", "git", &error).with_hint("install git"))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        let reason = stderr.lines().map(str::trim).find(|line| !line.is_empty());
        // Git repeats the address.
        let shown_url = self.shown_url();
        let reason = reason.unwrap_or("no error message").replace(&self.url, &shown_url);
        let (reason, url) = (reason.escape_debug(), shown_url.escape_debug());
        let message = match &self.revision {
            Some(revision) => format!("cannot fetch {revision:?} of {url}: {reason}"),
            None => format!("cannot fetch {url}: {reason}"),
        };
        let hint = "check the address, the revision, and that `git fetch` can read it";
        Err(Error::new(ErrorKind::Io, message).with_hint(hint))
    }
}

/// Returns the position of the `@` before a revision: the last one in the path of an address. The
/// host before the path can have one too, after the user.
fn revision_at(address: &str) -> Option<usize> {
    let path = match address.split_once("://") {
        Some((scheme, rest)) => scheme.len() + "://".len() + rest.find('/')? + 1,
        None => address.find(':')? + 1,
    };
    let at = path + address[path..].rfind('@')?;
    let is_name = address[..at].ends_with('/');
    let revision = &address[at + 1..];
    (!is_name && !revision.is_empty() && !revision.starts_with('-')).then_some(at)
}

/// Replaces the repositories among paths by the folders of their files. Paths that exist stay as
/// they are.
///
/// # Errors
///
/// Returns the errors of [`GitSource::check_out`].
pub fn check_out_all(paths: &mut [PathBuf], commits: u32, reporter: &dyn Reporter) -> Result<()> {
    for path in paths {
        let source = path.to_str().and_then(GitSource::parse);
        if let Some(source) = source.filter(|_| !path.exists()) {
            *path = source.check_out(commits, reporter)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_revisions_are_recognized() {
        let parse = |text: &str| {
            GitSource::parse(text).map(|source| (source.url, source.revision.unwrap_or_default()))
        };
        for (text, url, revision) in [
            ("gh:a/b", "https://github.com/a/b.git", ""),
            ("gh:a/b.git@main", "https://github.com/a/b.git", "main"),
            ("gh:a/b@feature/x", "https://github.com/a/b.git", "feature/x"),
            ("https://x.org/a/b.git", "https://x.org/a/b.git", ""),
            ("https://x.org/a/b@v1", "https://x.org/a/b", "v1"),
            ("https://user@x.org/a", "https://user@x.org/a", ""),
            ("https://user:word@x.org/a.git", "https://user:word@x.org/a.git", ""),
            ("https://user:word@x.org/a@v1", "https://user:word@x.org/a", "v1"),
            ("https://x.org/@scope/a", "https://x.org/@scope/a", ""),
            ("ssh://git@x.org:22/a@b/c", "ssh://git@x.org:22/a", "b/c"),
            ("ssh://git@x.org/a@v1", "ssh://git@x.org/a", "v1"),
            ("git@x.org:a/b.git", "git@x.org:a/b.git", ""),
            ("git@x.org:a/b.git@v1", "git@x.org:a/b.git", "v1"),
        ] {
            assert_eq!(parse(text), Some((url.to_owned(), revision.to_owned())), "{text}");
        }
        for path in ["a/b", "gh:a", "gh:/b", "gh:a/b c", "C:\\a", "git@x", "-", "ext::sh -c x"] {
            assert_eq!(parse(path), None, "{path}");
        }
    }
}
