//! A Python with a peer that is no crate: the scripts are in `bench/peers/`.

use std::path::{Path, PathBuf};

pub(crate) use lcp_testkit::python::{last_line, output};

/// A Python that has the versions of `bench/peers/NAME.txt` and nothing else: made
/// once beside this program, with pip.
///
/// # Errors
///
/// Why there is none, in words.
pub(crate) fn with(name: &str, progress: &mut dyn FnMut(String)) -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name(format!("peers-{name}"));
    lcp_testkit::python::with(&folder, &peers().join(format!("{name}.txt")), progress)
}

/// Where the scripts are.
pub(crate) fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
