//! The PATHs that are packed, and what stands in front of the labels below them.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::Result;
use crate::failure::Failure;
use crate::files;

/// A PATH that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    /// As it was given.
    pub(super) given: PathBuf,
    /// The same, from where relative ones begin.
    pub(super) path: PathBuf,
    /// The label of a file, or what stands in front of those below a folder; may be empty.
    pub(super) label: String,
    pub(super) is_folder: bool,
}

impl Root {
    /// What errors call it where it has no label.
    pub(super) fn name(&self) -> String {
        let given = self.given.to_string_lossy();
        let name = given.trim_end_matches('/');
        if name.is_empty() { given.into_owned() } else { name.to_owned() }
    }

    /// The label of what lies there below the folder.
    pub(super) fn below(&self, relative: &str) -> String {
        match (self.label.as_str(), relative) {
            (label, "") => label.to_owned(),
            ("", relative) => relative.to_owned(),
            (label, relative) => format!("{label}/{relative}"),
        }
    }
}

/// The PATHs but `-`, each once, the current folder where there is none.
///
/// # Errors
///
/// A PATH that is not there.
pub(super) fn all(paths: &[PathBuf], base: &Path) -> Result<Vec<Root>> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut roots: Vec<Root> = Vec::new();
    for path in paths.iter().filter(|path| path.as_os_str() != OsStr::new(files::STANDARD)) {
        let there = base.join(path);
        let metadata = std::fs::metadata(&there).map_err(|error| {
            let failure = Failure::io("read", path.display().to_string().escape_debug(), &error);
            if path.as_os_str().is_empty() { failure.hint("a PATH is empty") } else { failure }
        })?;
        let label = label(path, metadata.is_dir(), paths.len() > 1);
        let given = path.clone();
        let root = Root { given, path: there, label, is_folder: metadata.is_dir() };
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}

fn label(path: &Path, is_folder: bool, is_one_of_several: bool) -> String {
    if let Some(inside) = inside(path) {
        return inside;
    }
    if is_folder && !is_one_of_several {
        return String::new();
    }
    let name = || path.canonicalize().ok()?.file_name().map(OsStr::to_owned);
    let name = path.file_name().map(OsStr::to_owned).or_else(name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A relative path without `.` and `..`, with `/`, where it stays in the current folder.
fn inside(path: &Path) -> Option<String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name.to_string_lossy()),
            Component::ParentDir => drop(names.pop()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(names.join("/"))
}

/// A path below a folder as a label: with `/`, and U+FFFD for what is not UTF-8. Says
/// whether there was any.
pub(super) fn relative(path: &Path) -> (String, bool) {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    let is_lossy = path.to_str().is_none();
    (names.join("/"), is_lossy)
}

/// Sorts labels: by their components, byte by byte.
pub(super) fn order(a: &str, b: &str) -> std::cmp::Ordering {
    a.split('/').cmp(b.split('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_paths() {
        let of = |path: &str, several| label(Path::new(path), true, several);
        for (path, wanted) in
            [(".", ""), ("./src/", "src"), ("src/../docs", "docs"), ("a//b/.", "a/b"), ("a/..", "")]
        {
            assert_eq!(of(path, false), wanted, "{path}");
            assert_eq!(of(path, true), wanted, "{path}");
        }
        for path in ["../x", "/abs/x", "a/../../x"] {
            assert_eq!(of(path, false), "", "{path}");
            assert_eq!(of(path, true), "x", "{path}");
            assert_eq!(label(Path::new(path), false, false), "x", "a file: {path}");
        }
        assert_eq!(of("/", true), "");
    }

    #[test]
    fn labels_are_sorted_by_component() {
        let mut labels = ["a.rs", "a/b", "a-b", "a/B/c", "Z"];
        labels.sort_by(|a, b| order(a, b));
        assert_eq!(labels, ["Z", "a/B/c", "a/b", "a-b", "a.rs"]);
    }
}
