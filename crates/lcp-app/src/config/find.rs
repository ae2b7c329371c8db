//! Where an `lcp.toml` is looked for.

use std::path::{Path, PathBuf};

/// The name of the file.
const FILE_NAME: &str = "lcp.toml";

/// The nearest `lcp.toml` from `folder` upwards, as a path from there, so that
/// what is said of it is the same wherever a project lies.
pub fn nearest(folder: &Path) -> Option<PathBuf> {
    let mut up = PathBuf::new();
    for ancestor in folder.ancestors() {
        // A folder of that name too: nobody means that, and reading it says so.
        if ancestor.join(FILE_NAME).exists() {
            return Some(up.join(FILE_NAME));
        }
        up.push("..");
    }
    None
}
