//! Ignore files: finds unusable ones, and checks whether they exclude a file that no longer exists.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::defaults;
use crate::options::WalkOptions;

/// The ignore file of LCP.
pub(crate) const IGNORE_FILE: &str = ".lcpignore";

/// The names of ignore files, from the lowest to the highest precedence.
const NAMES: [&str; 3] = [".gitignore", ".ignore", IGNORE_FILE];

/// The ignore file of a repository that is not under version control.
const EXCLUDE: &str = ".git/info/exclude";

/// The maximum size of an ignore file in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// Returns the first ignore file of a folder that is not a regular file or is too large. With
/// `no_links`, symbolic links are unusable too.
pub(crate) fn find_unusable(folder: &Path, no_links: bool) -> Option<PathBuf> {
    // With `no_links`, the ignore file of the repository is not read.
    let exclude = (!no_links).then_some(EXCLUDE);
    NAMES.into_iter().chain(exclude).map(|name| folder.join(name)).find(|path| {
        let about = if no_links { path.symlink_metadata() } else { path.metadata() };
        about.is_ok_and(|about| !about.is_file() || about.len() > BYTES_MAX)
    })
}

/// Returns the first unusable ignore file in the folders above, which apply to this folder too.
pub(crate) fn find_unusable_above(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().skip(1).find_map(|above| find_unusable(above, false))
}

/// Returns whether a walk of the folder would leave out the file at this relative path if it
/// existed.
pub(crate) fn is_left_out(folder: &Path, below: &str, walk: WalkOptions, no_links: bool) -> bool {
    let (folders, name) = below.rsplit_once('/').unwrap_or(("", below));
    let is_hidden = || {
        defaults::is_hidden(name, false)
            || folders.split('/').any(|folder| defaults::is_hidden(folder, true))
    };
    if !walk.hidden && is_hidden() {
        return true;
    }
    if walk.ignored {
        return false;
    }
    let Ok(top) = folder.canonicalize() else { return true };
    let path = top.join(below);
    // With `no_links`, the ignore files above the folder are not read.
    let is_read = |at: &&Path| !no_links || at.starts_with(&top);
    // The nearest ignore file wins, as in the walk.
    let mut folders = path.ancestors().skip(1).take_while(is_read);
    folders.find_map(|folder| is_ignored_by(folder, &path, no_links)).unwrap_or_default()
}

/// Returns whether an ignore file asks for a path, as `!build/` does.
pub(crate) fn is_wanted(top: &Path, path: &Path, is_folder: bool, no_links: bool) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    let matched = |folder: &Path| {
        let rules = rules(folder, no_links)?;
        let matched = rules.matched(path, is_folder);
        (!matched.is_none()).then(|| matched.is_whitelist())
    };
    folders.into_iter().find_map(matched).unwrap_or_default()
}

/// Returns whether the ignore files of a folder exclude a path below it. Returns `None` if no
/// pattern matches. Unusable ignore files exclude every path.
fn is_ignored_by(folder: &Path, path: &Path, no_links: bool) -> Option<bool> {
    if find_unusable(folder, no_links).is_some() {
        return Some(true);
    }
    let rules = rules(folder, no_links)?;
    let matched = rules.matched_path_or_any_parents(path, false);
    (!matched.is_none()).then(|| matched.is_ignore())
}

/// Returns the rules of the ignore files of a folder, if there are any that can be used.
fn rules(folder: &Path, no_links: bool) -> Option<Gitignore> {
    if find_unusable(folder, no_links).is_some() {
        return None;
    }
    let mut builder = GitignoreBuilder::new(folder);
    for file in NAMES.map(|name| folder.join(name)).into_iter().filter(|file| file.is_file()) {
        // The walk has already reported errors in this file.
        let _ = builder.add(file);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
