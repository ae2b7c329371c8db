//! Ignore files: which there are, and what they say of files that are no longer there.

use std::path::{Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;

use super::Walking;

/// One more ignore file.
pub(super) const IGNORE_FILE: &str = ".lcpignore";

/// The names of ignore files, the one that says the last word last.
const NAMES: [&str; 3] = [".gitignore", ".ignore", IGNORE_FILE];

/// The ignore file of a repository that is no file of it.
const EXCLUDE: &str = ".git/info/exclude";

/// Bytes that an ignore file may have.
const BYTES_MAX: u64 = 1 << 20;

/// An ignore file of a folder that cannot be one: a pipe, a device, or too much to read;
/// where `no_links`, a link as well, which could lead anywhere. `ignore` opens them all.
pub(super) fn odd(folder: &Path, no_links: bool) -> Option<PathBuf> {
    // Those of the repository are not read where links are not.
    let exclude = (!no_links).then_some(EXCLUDE);
    NAMES.into_iter().chain(exclude).map(|name| folder.join(name)).find(|path| {
        let about = if no_links { path.symlink_metadata() } else { path.metadata() };
        about.is_ok_and(|about| !about.is_file() || about.len() > BYTES_MAX)
    })
}

/// The same of the folders above, whose ignore files count as well.
pub(super) fn odd_above(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().skip(1).find_map(|above| odd(above, false))
}

/// Whether a walk would leave out a file of a folder that is not there (any more): it is
/// hidden, or an ignore file excludes it. `below` is its path from there.
pub(super) fn leave_out(folder: &Path, below: &str, walking: Walking, no_links: bool) -> bool {
    if !walking.hidden && below.split('/').any(|name| name.starts_with('.')) {
        return true;
    }
    if walking.ignored {
        return false;
    }
    let Ok(top) = folder.canonicalize() else { return true };
    let path = top.join(below);
    // Where links are not followed, nothing above is read either.
    let is_read = |at: &&Path| !no_links || at.starts_with(&top);
    // What is nearest has the last word, as the walk has it.
    let mut folders = path.ancestors().skip(1).take_while(is_read);
    folders.find_map(|folder| said(folder, &path, no_links)).unwrap_or_default()
}

/// What the ignore files of a folder say of a path below it, if anything.
fn said(folder: &Path, path: &Path, no_links: bool) -> Option<bool> {
    if odd(folder, no_links).is_some() {
        return Some(true);
    }
    let mut builder = GitignoreBuilder::new(folder);
    for file in NAMES.map(|name| folder.join(name)).into_iter().filter(|file| file.is_file()) {
        // What is wrong with it was told by the walk.
        let _ = builder.add(file);
    }
    let rules = builder.build().ok().filter(|rules| !rules.is_empty())?;
    let said = rules.matched_path_or_any_parents(path, false);
    (!said.is_none()).then(|| said.is_ignore())
}
