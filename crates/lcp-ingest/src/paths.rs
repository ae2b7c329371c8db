//! Paths: those that are packed, the labels below them, and those that are written.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};

const STANDARD_INPUT: &str = "-";

/// A path that is packed, and exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The path as it was given.
    pub(crate) given: PathBuf,
    /// The same path below the base.
    pub(crate) path: PathBuf,
    /// The label of a file, or the prefix of those below a folder; may be empty.
    pub(crate) label: String,
    pub(crate) is_folder: bool,
}

impl Root {
    /// Returns its name in errors where it has no label.
    pub(crate) fn name(&self) -> String {
        let given = self.given.to_string_lossy();
        let name = given.trim_end_matches('/');
        if name.is_empty() { given.into_owned() } else { name.to_owned() }
    }

    /// Returns the label of a path below the folder.
    pub(crate) fn label_below(&self, relative: &str) -> String {
        match (self.label.as_str(), relative) {
            (label, "") => label.to_owned(),
            ("", relative) => relative.to_owned(),
            (label, relative) => format!("{label}/{relative}"),
        }
    }
}

/// Returns the paths but `-`, each once, or the current folder if there are none.
pub(crate) fn roots(paths: &[PathBuf], base: &Path) -> Result<Vec<Root>> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut roots: Vec<Root> = Vec::new();
    for path in paths.iter().filter(|path| path.as_os_str() != OsStr::new(STANDARD_INPUT)) {
        let path_below_base = base.join(path);
        let metadata = std::fs::metadata(&path_below_base).map_err(|error| {
            let error = Error::io("read", path.display().to_string().escape_debug(), &error);
            if path.as_os_str().is_empty() { error.with_hint("a PATH is empty") } else { error }
        })?;
        let label = label(path, metadata.is_dir(), paths.len() > 1);
        let given = path.clone();
        let root = Root { given, path: path_below_base, label, is_folder: metadata.is_dir() };
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}

fn label(path: &Path, is_folder: bool, is_one_of_several: bool) -> String {
    if let Some(normal) = normalize(path) {
        return normal;
    }
    if is_folder && !is_one_of_several {
        return String::new();
    }
    let name = || path.canonicalize().ok()?.file_name().map(OsStr::to_owned);
    let name = path.file_name().map(OsStr::to_owned).or_else(name);
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns a relative path without `.` and `..`, with `/`, if it stays in the current folder.
fn normalize(path: &Path) -> Option<String> {
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

/// Returns a path below a folder as a label, and whether it is not UTF-8.
pub(crate) fn to_label(path: &Path) -> (String, bool) {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    let is_lossy = path.to_str().is_none();
    (names.join("/"), is_lossy)
}

/// Compares labels by their components, byte by byte.
pub(crate) fn compare_labels(a: &str, b: &str) -> std::cmp::Ordering {
    a.split('/').cmp(b.split('/'))
}

/// Returns text of other people as one line.
pub(crate) fn escape(text: &str) -> String {
    text.escape_debug().to_string()
}

/// Returns the warning that some have the label of another one.
pub(crate) fn shared_labels(count: usize, noun: &str) -> String {
    let (plural, have) = if count == 1 { ("", "has") } else { ("s", "have") };
    format!("{count} {noun}{plural} {have} the path of another one in the pack")
}

/// The files that this run writes, which are never packed.
#[derive(Debug, Default)]
pub(crate) struct OwnOutputs {
    names: HashSet<OsString>,
    /// Without links.
    paths: HashSet<PathBuf>,
}

impl OwnOutputs {
    /// Takes those paths that exist: others cannot be found.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let paths: HashSet<_> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let names = paths.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        Self { names, paths }
    }

    /// Returns whether this is one of them. A link to one has any name.
    pub(crate) fn contains(&self, path: &Path, may_be_link: bool) -> bool {
        !self.paths.is_empty()
            && (may_be_link || path.file_name().is_some_and(|name| self.names.contains(name)))
            && path.canonicalize().is_ok_and(|path| self.paths.contains(&path))
    }
}

#[cfg(test)]
mod tests;
