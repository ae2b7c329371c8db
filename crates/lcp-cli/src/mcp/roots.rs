//! The folders that are read: nothing outside them is, whatever paths and links say.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Component, Path, PathBuf};

use lcp_types::wire::MAGIC_LCP;

use super::fault::{Fault, Outcome, REFUSED};
use crate::Result;
use crate::failure::{Code, Failure};
use lcp_packfile::journal::{self, JournalState};

/// The folders that a server reads below.
#[derive(Debug)]
pub struct Roots(Vec<Root>);

#[derive(Debug)]
struct Root {
    /// As it was named, made absolute.
    named: PathBuf,
    /// Where that leads.
    path: PathBuf,
    /// Held open: what takes its place later is not read.
    #[cfg(unix)]
    folder: rustix::fd::OwnedFd,
}

/// Something below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    /// The root.
    pub(super) root: PathBuf,
    /// The path from there, without links; empty for the root itself.
    pub(super) below: PathBuf,
}

impl Inside {
    /// The whole path.
    pub(super) fn path(&self) -> PathBuf {
        self.root.join(&self.below)
    }
}

impl Roots {
    /// These folders.
    ///
    /// # Errors
    ///
    /// One that is not there, or is no folder.
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

    /// The paths of all, the first being that where relative paths begin.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|root| root.path.as_path())
    }

    /// What a path means: absolute, or from one of the roots.
    pub(super) fn find(&self, said: &str) -> Outcome<Inside> {
        let path = Path::new(said);
        if said.is_empty() || said.contains('\0') {
            return Err(Fault::usage(format!("{said:?} is no path")));
        }
        // Refused before anything is looked at: what is outside is not even known to be there.
        if path.components().any(|component| component == Component::ParentDir) {
            return Err(self.refused(said, "has `..` in it"));
        }
        let candidates: Vec<_> = self.0.iter().filter_map(|root| root.candidate(path)).collect();
        let mut wrong = None;
        for candidate in candidates {
            match candidate.canonicalize() {
                Ok(path) => match self.inside(&path) {
                    Some(inside) => return Ok(inside),
                    None => wrong = Some(self.refused(said, "leads outside the roots")),
                },
                Err(error) if is_nothing(&error) => {
                    wrong.get_or_insert_with(|| self.missing(said));
                }
                Err(error) => wrong = Some(unread(said, &error)),
            }
        }
        Err(wrong.unwrap_or_else(|| self.refused(said, "is outside the roots")))
    }

    /// Opens a file or folder by its path without links, and follows none on the way.
    pub(super) fn open(&self, path: &Path) -> std::io::Result<File> {
        let root = self.0.iter().filter(|root| path.starts_with(&root.path));
        let root = root.max_by_key(|root| root.path.components().count());
        let root = root.ok_or(ErrorKind::PermissionDenied)?;
        let below = path.strip_prefix(&root.path).map_err(|_| ErrorKind::PermissionDenied)?;
        root.open(below)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Also a file of more than `max` bytes.
    pub(super) fn read(&self, said: &str, max: u64) -> Outcome<Vec<u8>> {
        self.read_beside(said, max).map(|(bytes, _)| bytes)
    }

    /// The same, and what a journal beside it means, if it is a pack.
    pub(super) fn read_beside(&self, said: &str, max: u64) -> Outcome<(Vec<u8>, JournalState)> {
        let inside = self.find(said)?;
        let failed = |error| unread(said, &error);
        let file = self.open(&inside.path()).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(Fault::usage(format!("{said:?} is no file")));
        }
        let mut bytes = Vec::new();
        (&file).take(MAGIC_LCP.len() as u64).read_to_end(&mut bytes).map_err(failed)?;
        let is_pack = bytes == MAGIC_LCP;
        if is_pack {
            journal::lock_shared(&file).map_err(failed)?;
        }
        (&file).take(max.saturating_sub(3)).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > max {
            return Err(Fault::limit(format!("{said:?} has more than {max} bytes")));
        }
        if !is_pack {
            return Ok((bytes, JournalState::Absent));
        }
        // As it was before, where an append is not over.
        let mut journal = Vec::new();
        match self.open(&journal::journal_path(&inside.path())) {
            Err(error) if is_nothing(&error) => return Ok((bytes, JournalState::Absent)),
            opened => opened.and_then(|file| file.take(max).read_to_end(&mut journal)),
        }
        .map_err(failed)?;
        Ok(journal::rolled_back(bytes, Some(&journal)))
    }

    fn inside(&self, path: &Path) -> Option<Inside> {
        self.0.iter().find_map(|root| {
            let below = path.strip_prefix(&root.path).ok()?.to_owned();
            Some(Inside { root: root.path.clone(), below })
        })
    }

    fn refused(&self, said: &str, why: &str) -> Fault {
        Fault::new(REFUSED, format!("the path {said:?} {why}")).hint(self.said())
    }

    fn missing(&self, said: &str) -> Fault {
        Fault::from(Failure::new(Code::Io, format!("there is no {said:?} below the roots")))
            .hint(self.said())
    }

    /// All of them, for people.
    pub(super) fn said(&self) -> String {
        let paths: Vec<_> = self.paths().map(|path| format!("{}", path.display())).collect();
        format!("paths begin at, or lie below: {}", paths.join(", ").escape_debug())
    }
}

impl Root {
    fn new(folder: &Path) -> Result<Self> {
        let failed = |error| Failure::io("read the root", folder.display(), &error);
        let path = folder.canonicalize().map_err(failed)?;
        if !path.is_dir() {
            let message = format!("the root {} is no folder", folder.display());
            return Err(Failure::new(Code::Usage, message));
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

    /// Where a path would be, if this root is meant.
    fn candidate(&self, path: &Path) -> Option<PathBuf> {
        if path.is_absolute() {
            let below = path.strip_prefix(&self.path).or_else(|_| path.strip_prefix(&self.named));
            return below.ok().map(|below| self.path.join(below));
        }
        // `C:a` and `\a` of Windows are neither.
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
                return Err(ErrorKind::PermissionDenied.into());
            };
            // Neither waits for a pipe nor follows a link that came since the path was found.
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
        // What was found may be a link by now; as far as this system tells.
        if path.canonicalize()? == path {
            Ok(file)
        } else {
            Err(ErrorKind::PermissionDenied.into())
        }
    }
}

#[cfg(unix)]
fn folder_flags() -> rustix::fs::OFlags {
    use rustix::fs::OFlags;
    OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Whether there is nothing at a path; a file has nothing below it.
fn is_nothing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn unread(said: &str, error: &std::io::Error) -> Fault {
    Failure::io("read", format!("{said:?}"), error).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> (tempfile::TempDir, Roots) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("a")).unwrap();
        std::fs::write(root.join("a/b"), "inside").unwrap();
        std::fs::write(folder.path().join("secret"), "outside").unwrap();
        std::fs::create_dir(folder.path().join("root2")).unwrap();
        std::fs::write(folder.path().join("root2/c"), "outside").unwrap();
        let roots = Roots::new(&[root]).unwrap();
        (folder, roots)
    }

    #[test]
    fn what_is_below_a_root_is_read() {
        let (folder, roots) = roots();
        let whole = folder.path().join("root/a/b").display().to_string();
        for said in ["a/b", "./a/./b", "a//b", &whole] {
            assert_eq!(roots.read(said, 6).unwrap(), b"inside", "{said}");
        }
        assert_eq!(roots.find(".").unwrap().below, Path::new(""));
        assert_eq!(roots.read("a/b", 5).unwrap_err().code, "limit");
        assert_eq!(roots.read("a", 5).unwrap_err().code, "usage");
        assert_eq!(roots.read("a/c", 5).unwrap_err().code, "io");
        assert_eq!(roots.read("a/b/c", 5).unwrap_err().code, "io");
    }

    #[test]
    fn a_pack_is_read_as_it_wrolled_back_an_append_that_was_interrupted() {
        let (folder, roots) = roots();
        let pack = folder.path().join("root/pack.lcp");
        let (old, new) = (b"LCP\0\x01\0\x02\0kept, old", b"LCP\0\x01\0\x02\0kept, and new");
        let beside = |said: &str| roots.read_beside(said, 99).unwrap().1;
        let journal = journal::Journal::new(old, 12, new.len() as u64).unwrap().to_bytes();
        std::fs::write(&pack, new).unwrap();
        assert_eq!(roots.read("pack.lcp", 21).unwrap(), new);
        assert_eq!(roots.read("pack.lcp", 20).unwrap_err().code, "limit");
        std::fs::write(journal::journal_path(&pack), &journal).unwrap();
        assert_eq!(roots.read("pack.lcp", 99).unwrap(), old);
        assert_eq!(beside("pack.lcp"), JournalState::RolledBack);
        std::fs::write(journal::journal_path(&pack), &journal[1..]).unwrap();
        assert_eq!(roots.read("pack.lcp", 99).unwrap(), new);
        assert_eq!(beside("pack.lcp"), JournalState::Unknown);
    }

    #[test]
    fn what_is_outside_is_refused_there_or_not() {
        let (folder, roots) = roots();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let outside =
            [at("secret"), at("nothing"), at("root2/c"), "/".into(), "/etc/passwd".into()];
        let up = ["..", "../secret", "a/../../secret", "a/../a/b", "./..", "a/.."];
        for said in outside.into_iter().chain(up.map(str::to_owned)) {
            assert_eq!(roots.find(&said).unwrap_err().code, REFUSED, "{said}");
        }
        for said in ["", "a\0b"] {
            assert_eq!(roots.find(said).unwrap_err().code, "usage");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_only_to_what_is_inside() {
        use std::os::unix::fs::symlink;

        let (folder, roots) = roots();
        let at = |name: &str| folder.path().join("root").join(name);
        symlink(folder.path().join("secret"), at("file")).unwrap();
        symlink(folder.path(), at("folder")).unwrap();
        symlink("a", at("fine")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for said in ["file", "folder", "folder/secret", "folder/root2/c"] {
            assert_eq!(roots.find(said).unwrap_err().code, REFUSED, "{said}");
        }
        assert_eq!(roots.read("fine/b", 6).unwrap(), b"inside");
        assert_eq!(roots.find("loop").unwrap_err().code, "io");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_comes_after_the_look_is_not_followed() {
        use std::os::unix::fs::symlink;

        let (folder, roots) = roots();
        let found = roots.find("a/b").unwrap().path();
        let swapped = folder.path().join("root/a");
        std::fs::rename(&swapped, folder.path().join("root/old")).unwrap();
        std::fs::create_dir(folder.path().join("evil")).unwrap();
        std::fs::write(folder.path().join("evil/b"), "outside").unwrap();
        symlink(folder.path().join("evil"), &swapped).unwrap();
        assert!(roots.open(&found).is_err());
        // Nor is the root another folder than it was.
        std::fs::remove_file(&swapped).unwrap();
        std::fs::rename(folder.path().join("root"), folder.path().join("was")).unwrap();
        std::fs::create_dir_all(folder.path().join("root/a")).unwrap();
        std::fs::write(&found, "outside").unwrap();
        assert!(roots.open(&found).is_err());
    }
}
