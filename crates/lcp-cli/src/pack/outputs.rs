//! What is written while the walk runs, and so is never packed.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are written; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Outputs(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    names: HashSet<OsString>,
    /// Without links.
    paths: HashSet<PathBuf>,
}

impl Outputs {
    /// Those of these that are there already: others cannot be found.
    pub(super) fn of(paths: &[PathBuf]) -> Self {
        let paths: HashSet<_> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let names = paths.iter().filter_map(|path| Some(path.file_name()?.to_owned())).collect();
        Self(Arc::new(Known { names, paths }))
    }

    /// Whether this is one of them. A link to one has any name.
    pub(super) fn contains(&self, path: &Path, may_be_link: bool) -> bool {
        !self.0.paths.is_empty()
            && (may_be_link || path.file_name().is_some_and(|name| self.0.names.contains(name)))
            && path.canonicalize().is_ok_and(|path| self.0.paths.contains(&path))
    }
}
