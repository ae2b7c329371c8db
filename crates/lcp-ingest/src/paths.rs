//! Paths: the roots to pack, the labels of files, the files that this run writes, and settings of
//! git.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, Result};
use crate::options::OpenFile;

const STANDARD_INPUT: &str = "-";

/// The number of bytes that are read of a settings file.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

/// An existing path to pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    /// The path as given.
    pub(crate) given: PathBuf,
    /// The same path, joined to the base.
    pub(crate) path: PathBuf,
    /// The label of a file, or the prefix of the labels below a folder. It may be empty.
    pub(crate) label: String,
    pub(crate) is_folder: bool,
}

impl Root {
    /// Returns the name for errors of a root without a label.
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

/// Returns the paths without `-` and repetitions. An empty list means the current folder.
pub(crate) fn roots(paths: &[PathBuf], base: &Path) -> Result<Vec<Root>> {
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here } else { paths };
    let (mut roots, mut seen) = (Vec::new(), HashSet::new());
    for path in paths.iter().filter(|path| path.as_os_str() != OsStr::new(STANDARD_INPUT)) {
        let path_below_base = base.join(path);
        let metadata = std::fs::metadata(&path_below_base).map_err(|error| {
            let error = Error::io("read", path.display().to_string().escape_debug(), &error);
            if path.as_os_str().is_empty() {
                error.with_hint("remove the empty PATH")
            } else {
                error
            }
        })?;
        let label = label(path, metadata.is_dir(), paths.len() > 1);
        let given = path.clone();
        if seen.insert(path) {
            let is_folder = metadata.is_dir();
            roots.push(Root { given, path: path_below_base, label, is_folder });
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

/// Resolves `.` and `..` in a relative path, and joins its names with `/`. Returns `None` if the
/// path leaves the current folder or is absolute.
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

/// Converts a relative path to a label. Also returns whether the path is not UTF-8.
pub(crate) fn to_label(path: &Path) -> (String, bool) {
    let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
    let is_lossy = path.to_str().is_none();
    (names.join("/"), is_lossy)
}

/// Compares labels component by component, as bytes.
pub(crate) fn compare_labels(a: &str, b: &str) -> std::cmp::Ordering {
    a.split('/').cmp(b.split('/'))
}

/// Escapes foreign text so that it fits on one line.
pub(crate) fn escape(text: &str) -> String {
    text.escape_debug().to_string()
}

/// Returns the warning that this number of items share a label with another one.
pub(crate) fn shared_labels(count: usize, noun: &str) -> String {
    let (plural, have) = if count == 1 { ("", "has") } else { ("s", "have") };
    format!("{count} {noun}{plural} {have} the same path as another one in the pack")
}

/// Returns the folder of the repository that contains a folder.
pub(crate) fn repository(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Reads a settings file of git. The rest of a file of more than 1 MiB is not read.
pub(crate) fn read_settings(path: &Path, open: Option<OpenFile<'_>>) -> Option<String> {
    let file = match open {
        Some(open) => open(path).ok()?,
        None => std::fs::File::open(path).ok()?,
    };
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(SETTINGS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files that this run writes. They are never packed.
#[derive(Debug, Default)]
pub(crate) struct OwnOutputs {
    names: HashSet<OsString>,
    /// The paths with links resolved.
    paths: HashSet<PathBuf>,
}

impl OwnOutputs {
    /// Collects the paths that exist. The walk cannot find any others.
    pub(crate) fn new(paths: &[PathBuf]) -> Self {
        let paths: HashSet<_> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let names = paths.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        Self { names, paths }
    }

    /// Returns whether the path is one of these files. If it may be a link, its name is not
    /// compared, because a link can have any name.
    pub(crate) fn contains(&self, path: &Path, may_be_link: bool) -> bool {
        !self.paths.is_empty()
            && (may_be_link || path.file_name().is_some_and(|name| self.names.contains(name)))
            && path.canonicalize().is_ok_and(|path| self.paths.contains(&path))
    }
}

#[cfg(test)]
mod tests;
