//! The sandbox: only files below the roots can be read, for any given paths and links.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use lcp_types::wire::MAGIC_LCP;

use super::error::{REFUSED, ToolError, ToolResult};
use lcp_app::{Error, ErrorKind, Result};
use lcp_packfile::journal::{self, JournalState};

/// The root folders of a server.
#[derive(Debug)]
pub struct Roots(Vec<Root>);

#[derive(Debug)]
struct Root {
    /// The given path, made absolute.
    named: PathBuf,
    /// The path without links.
    path: PathBuf,
    /// The open folder. A different folder that replaces it at the same path later is not read.
    #[cfg(unix)]
    folder: rustix::fd::OwnedFd,
}

/// A path below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SandboxedPath {
    /// The path of the root.
    pub(crate) root: PathBuf,
    /// The path relative to the root, without links; empty for the root itself.
    pub(crate) below: PathBuf,
}

impl SandboxedPath {
    /// Returns the full path.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }
}

impl Roots {
    /// Opens the root folders.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder does not exist or is not a folder.
    pub fn new(folders: &[PathBuf]) -> Result<Self> {
        let mut roots: Vec<Root> = Vec::new();
        for folder in folders {
            let root = Root::new(folder)?;
            if roots.iter().all(|known| known.path != root.path) {
                roots.push(root);
            }
        }
        Ok(Self(roots))
    }

    /// Returns the paths of all roots.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|root| root.path.as_path())
    }

    /// Resolves a path, which is absolute or relative to one of the roots.
    pub(crate) fn resolve(&self, given: &str) -> ToolResult<SandboxedPath> {
        let path = Path::new(given);
        if given.is_empty() || given.contains('\0') {
            let message = format!("invalid path {given:?}: it is empty or contains NUL");
            return Err(ToolError::usage(message));
        }
        // Refuse `..` before any access to the file system, so that the result does not reveal
        // which files exist outside of the roots.
        if path.components().any(|component| component == Component::ParentDir) {
            return Err(self.refused(given, "contains `..`"));
        }
        let candidates: Vec<_> = self.0.iter().filter_map(|root| root.candidate(path)).collect();
        let mut wrong = None;
        for candidate in candidates {
            match candidate.canonicalize() {
                Ok(path) => match self.to_sandboxed(&path) {
                    Some(inside) => return Ok(inside),
                    None => wrong = Some(self.refused(given, "leads outside the roots")),
                },
                Err(error) if is_missing(&error) => {
                    wrong.get_or_insert_with(|| self.missing(given));
                }
                Err(error) => wrong = Some(read_error(given, &error)),
            }
        }
        Err(wrong.unwrap_or_else(|| self.refused(given, "is outside the roots")))
    }

    /// Opens a file or folder by its resolved path. Follows no links.
    pub(crate) fn open(&self, path: &Path) -> std::io::Result<File> {
        let root = self.0.iter().filter(|root| path.starts_with(&root.path));
        let root = root.max_by_key(|root| root.path.components().count());
        let root = root.ok_or(io::ErrorKind::PermissionDenied)?;
        let below = path.strip_prefix(&root.path).map_err(|_| io::ErrorKind::PermissionDenied)?;
        root.open(below)
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or has more than `max` bytes.
    pub(crate) fn read(&self, given: &str, max: u64) -> ToolResult<Vec<u8>> {
        self.read_with_journal(given, max).map(|(bytes, _)| bytes)
    }

    /// Reads a file, and the state of its journal if the file is a pack.
    pub(crate) fn read_with_journal(
        &self,
        given: &str,
        max: u64,
    ) -> ToolResult<(Vec<u8>, JournalState)> {
        let inside = self.resolve(given)?;
        let failed = |error| read_error(given, &error);
        let file = self.open(&inside.path()).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(ToolError::usage(format!("{given:?} is not a file")));
        }
        let mut bytes = Vec::new();
        (&file).take(MAGIC_LCP.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        let is_pack = bytes == MAGIC_LCP;
        if is_pack {
            journal::lock_shared(&file).map_err(failed)?;
        }
        (&file).take(max.saturating_sub(3)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > max {
            return Err(ToolError::limit(format!("{given:?} exceeds the limit of {max} bytes")));
        }
        if !is_pack {
            return Ok((bytes, JournalState::Absent));
        }
        // If an append has not completed, restore the content before it.
        let mut journal = Vec::new();
        match self.open(&journal::journal_path(&inside.path())) {
            Err(error) if is_missing(&error) => return Ok((bytes, JournalState::Absent)),
            opened => opened.and_then(|file| file.take(max).read_to_end(&mut journal)),
        }
        .map_err(failed)?;
        Ok(journal::rolled_back(bytes, Some(&journal)))
    }

    fn to_sandboxed(&self, path: &Path) -> Option<SandboxedPath> {
        self.0.iter().find_map(|root| {
            let below = path.strip_prefix(&root.path).ok()?.to_owned();
            Some(SandboxedPath { root: root.path.clone(), below })
        })
    }

    fn refused(&self, given: &str, why: &str) -> ToolError {
        ToolError::new(REFUSED, format!("the path {given:?} {why}")).with_hint(self.hint())
    }

    fn missing(&self, given: &str) -> ToolError {
        let message = format!("{given:?} does not exist below the roots");
        ToolError::from(Error::new(ErrorKind::Io, message)).with_hint(self.hint())
    }

    fn hint(&self) -> String {
        format!("use a path in one of the roots: {}", self.list())
    }

    /// Returns the paths of the roots as text for messages.
    pub(crate) fn list(&self) -> String {
        let paths: Vec<_> = self.paths().map(|path| format!("{}", path.display())).collect();
        paths.join(", ").escape_debug().to_string()
    }
}

impl Root {
    fn new(folder: &Path) -> Result<Self> {
        let failed = |error| Error::io("read the root", folder.display(), &error);
        let path = folder.canonicalize().map_err(failed)?;
        if !path.is_dir() {
            let message = format!("the root {} is not a folder", folder.display());
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let named = std::path::absolute(folder).map_err(failed)?;
        #[cfg(unix)]
        let folder = {
            let opened = rustix::fs::open(&path, folder_flags(), rustix::fs::Mode::empty());
            opened.map_err(|error| failed(error.into()))?
        };
        Ok(Self {
            named,
            path,
            #[cfg(unix)]
            folder,
        })
    }

    /// Returns the full path of a path below this root.
    fn candidate(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() {
            let below = path.strip_prefix(&self.path).or_else(|_| path.strip_prefix(&self.named));
            return below.ok().map(|below| self.path.join(below));
        }
        // Windows paths such as `C:a` and `\a` are neither absolute nor relative.
        let is_plain = |component| matches!(component, Component::Normal(_) | Component::CurDir);
        path.components().all(is_plain).then(|| self.path.join(path))
    }

    #[cfg(unix)]
    fn open(&self, below: &Path) -> std::io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};

        let mut folder = None;
        let mut components = below.components().peekable();
        while let Some(component) = components.next() {
            let Component::Normal(name) = component else {
                return Err(io::ErrorKind::PermissionDenied.into());
            };
            // Do not wait for a pipe, and do not follow a link that was created after the path was
            // resolved.
            let last = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let flags = if components.peek().is_some() { folder_flags() } else { last };
            let from = folder.as_ref().unwrap_or(&self.folder);
            folder = Some(openat(from, name, flags, Mode::empty())?);
        }
        match folder {
            Some(opened) => Ok(opened.into()),
            None => Ok(self.folder.try_clone()?.into()),
        }
    }

    #[cfg(not(unix))]
    fn open(&self, below: &Path) -> std::io::Result<File> {
        let path = self.path.join(below);
        let file = File::open(&path)?;
        // The path may have become a link since it was resolved. Check again, as well as this
        // system allows.
        if path.canonicalize()? == path {
            Ok(file)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
}

#[cfg(unix)]
fn folder_flags() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Returns whether the error means that the path does not exist, which includes a path below a
/// file.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read_error(given: &str, error: &std::io::Error) -> ToolError {
    Error::io("read", format!("{given:?}"), error).into()
}

#[cfg(test)]
mod tests;
