//! Ignore files: which exist, and whether they exclude a file that no longer exists.

use std::path::{Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;

use crate::options::WalkOptions;

/// The ignore file of LCP.
pub(crate) const IGNORE_FILE: &str = ".lcpignore";

/// The names of ignore files, the one that wins last.
const NAMES: [&str; 3] = [".gitignore", ".ignore", IGNORE_FILE];

/// The ignore file of a repository that is not versioned.
const EXCLUDE: &str = ".git/info/exclude";

/// Bytes that an ignore file may have.
const BYTES_MAX: u64 = 1 << 20;

/// Returns an ignore file that cannot be read; with `no_links`, links are none that can.
pub(crate) fn find_unusable(folder: &Path, no_links: bool) -> Option<PathBuf> {
    // Those of the repository are not read where links are not.
    let exclude = (!no_links).then_some(EXCLUDE);
    NAMES.into_iter().chain(exclude).map(|name| folder.join(name)).find(|path| {
        let about = if no_links { path.symlink_metadata() } else { path.metadata() };
        about.is_ok_and(|about| !about.is_file() || about.len() > BYTES_MAX)
    })
}

/// Returns the same of the folders above, whose ignore files count as well.
pub(crate) fn find_unusable_above(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().skip(1).find_map(|above| find_unusable(above, false))
}

/// Returns whether a walk would leave out this path below the folder, if it existed.
pub(crate) fn is_left_out(folder: &Path, below: &str, walk: WalkOptions, no_links: bool) -> bool {
    if !walk.hidden && below.split('/').any(|name| name.starts_with('.')) {
        return true;
    }
    if walk.ignored {
        return false;
    }
    let Ok(top) = folder.canonicalize() else { return true };
    let path = top.join(below);
    // Where links are not followed, nothing above is read either.
    let is_read = |at: &&Path| !no_links || at.starts_with(&top);
    // The nearest wins, as in the walk.
    let mut folders = path.ancestors().skip(1).take_while(is_read);
    folders.find_map(|folder| is_ignored_by(folder, &path, no_links)).unwrap_or_default()
}

/// Returns whether the ignore files of a folder ignore a path below it, if they match.
fn is_ignored_by(folder: &Path, path: &Path, no_links: bool) -> Option<bool> {
    if find_unusable(folder, no_links).is_some() {
        return Some(true);
    }
    let mut builder = GitignoreBuilder::new(folder);
    for file in NAMES.map(|name| folder.join(name)).into_iter().filter(|file| file.is_file()) {
        // The walk has warned of errors in it.
        let _ = builder.add(file);
    }
    let rules = builder.build().ok().filter(|rules| !rules.is_empty())?;
    let matched = rules.matched_path_or_any_parents(path, false);
    (!matched.is_none()).then(|| matched.is_ignore())
}
