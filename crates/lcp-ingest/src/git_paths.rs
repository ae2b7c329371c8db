//! The roots as git sees them: files of one repository are passed to git together.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::git::Git;
use crate::paths::{self, Root};

/// The maximum length of all paths in a call of git, in bytes. Systems limit the length of a command
/// line.
const PATHS_BYTES_MAX: usize = if cfg!(windows) { 16 << 10 } else { 96 << 10 };

/// Roots that one call of git covers: a folder, or files of one repository.
#[derive(Debug)]
pub(crate) struct GitPaths<'r> {
    /// The folder that git runs in. Paths in its output are relative to this folder.
    folder: PathBuf,
    roots: Roots<'r>,
}

#[derive(Debug)]
enum Roots<'r> {
    Folder(&'r Root),
    /// The roots of each path. Several roots can name the same file.
    Files(BTreeMap<OsString, Vec<&'r Root>>),
}

/// Groups roots for git.
pub(crate) fn group(roots: &[Root]) -> Vec<GitPaths<'_>> {
    let mut groups = Vec::new();
    // Files by the folder of their repository. Links would hide that two are in one repository.
    let mut files: BTreeMap<PathBuf, BTreeMap<OsString, Vec<&Root>>> = BTreeMap::new();
    let mut tops = HashMap::new();
    for root in roots {
        if root.is_folder {
            groups.push(GitPaths { folder: root.path.clone(), roots: Roots::Folder(root) });
            continue;
        }
        let parent = root.path.parent().unwrap_or(Path::new(""));
        let name = root.path.file_name().unwrap_or_default();
        let (top, below) = tops.entry(parent).or_insert_with(|| top(parent));
        let mut path = below.join(name).into_os_string();
        if cfg!(windows) {
            // The output of git has slashes.
            path = path.to_string_lossy().replace('\\', "/").into();
        }
        files.entry(top.clone()).or_default().entry(path).or_default().push(root);
    }
    for (folder, files) in files {
        let (mut chunk, mut bytes) = (BTreeMap::new(), 0);
        for (path, roots) in files {
            bytes += path.len() + 1;
            if bytes > PATHS_BYTES_MAX && !chunk.is_empty() {
                let files = Roots::Files(std::mem::take(&mut chunk));
                groups.push(GitPaths { folder: folder.clone(), roots: files });
                bytes = path.len() + 1;
            }
            chunk.insert(path, roots);
        }
        groups.push(GitPaths { folder, roots: Roots::Files(chunk) });
    }
    groups
}

/// Returns the folder of the repository of a folder, and the path of the folder below it. Without a
/// repository, git reports the error in the folder itself.
fn top(folder: &Path) -> (PathBuf, PathBuf) {
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let found = here.canonicalize().ok().and_then(|real| {
        let top = paths::repository(&real)?;
        let below = real.strip_prefix(&top).ok()?.to_owned();
        Some((top, below))
    });
    found.unwrap_or_else(|| (folder.to_owned(), PathBuf::new()))
}

impl<'r> GitPaths<'r> {
    /// Runs git on the roots.
    pub(crate) fn run(&self, words: &[&str], flags: &[&str]) -> Result<Vec<u8>> {
        let mut arguments: Vec<OsString> = words.iter().chain(flags).map(OsString::from).collect();
        arguments.push("--".into());
        if let Roots::Files(files) = &self.roots {
            arguments.extend(files.keys().cloned());
        }
        self.git().run(&arguments)
    }

    /// Returns the hash of a commit.
    pub(crate) fn commit(&self, revision: &str) -> Result<String> {
        self.git().commit(revision)
    }

    fn git(&self) -> Git<'_> {
        Git::in_folder(&self.folder)
    }

    /// Returns the name of the roots for warnings.
    pub(crate) fn name(&self) -> String {
        let path = match &self.roots {
            Roots::Folder(root) => &root.path,
            Roots::Files(files) => match files.values().next() {
                Some(roots) if files.len() == 1 => &roots[0].path,
                _ => &self.folder,
            },
        };
        paths::escape(&path.display().to_string())
    }

    /// Returns the label and the path of a file in the output of git, for each root that has it.
    pub(crate) fn resolve(&self, name: &str) -> Vec<(&'r Root, String, PathBuf)> {
        match &self.roots {
            Roots::Folder(root) => vec![(*root, root.label_below(name), root.path.join(name))],
            Roots::Files(files) => {
                let exact = files.get(&*OsString::from(name));
                // Git may normalize a name, or it is not UTF-8.
                let lossy = || {
                    let mut all = files.iter();
                    all.find(|(path, _)| files.len() == 1 || path.to_string_lossy() == name)
                };
                let roots = exact.or_else(|| lossy().map(|(_, roots)| roots));
                let roots = roots.into_iter().flatten();
                roots.map(|root| (*root, root.label.clone(), root.path.clone())).collect()
            }
        }
    }
}
