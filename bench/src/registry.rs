//! The sources of the crates that this workspace builds with: texts that
//! every machine has, and that are the same everywhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_testkit::files_in;
use lcp_types::Lang;
use serde_json::Value;

use crate::error::Error;

/// Larger files are tables that a program made.
const FILE_BYTES_MAX: u64 = 512 << 10;

/// A crate that this workspace builds with.
pub(crate) struct Crate {
    /// Its name.
    pub(crate) name: String,
    folder: PathBuf,
}

impl Crate {
    /// Where it is.
    #[cfg(feature = "peers")]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The files that are wanted, each with its path below the crate's folder,
    /// in the order of their paths.
    pub(crate) fn files(&self, wanted: fn(&Path) -> bool) -> Result<Vec<(String, String)>, Error> {
        let mut paths = files_in(&self.folder, FILE_BYTES_MAX)
            .map_err(|error| Error::io("list", &self.folder, error))?;
        paths.retain(|path| wanted(path));
        let mut texts = Vec::new();
        for path in paths {
            let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
            let below = path.strip_prefix(&self.folder).unwrap_or(&path).display().to_string();
            let text = String::from_utf8(bytes).ok().filter(|text| !text.is_empty());
            texts.extend(text.map(|text| (below, text)));
        }
        Ok(texts)
    }
}

/// The crates from the registry, sorted by name and version.
pub(crate) fn crates() -> Result<Vec<Crate>, Error> {
    let host = output("rustc", &["-vV"])?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let arguments = ["metadata", "--format-version", "1", "--locked", "--all-features"];
    let place = ["--filter-platform", host, "--manifest-path", manifest];
    let metadata = output(&cargo, &[&arguments[..], &place].concat())?;
    let unreadable = |message: String| Error::Command { command: cargo.clone(), message };
    let metadata: Value =
        serde_json::from_str(&metadata).map_err(|error| unreadable(error.to_string()))?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut crates: Vec<_> = packages
        .iter()
        .filter(|package| package["source"].is_string())
        .filter_map(|package| {
            let manifest = Path::new(package["manifest_path"].as_str()?);
            let name = package["name"].as_str()?.to_owned();
            Some(Crate { name, folder: manifest.parent()?.to_owned() })
        })
        .collect();
    crates.sort_by(|one, other| (&one.name, &one.folder).cmp(&(&other.name, &other.folder)));
    Ok(crates)
}

/// Those of `crates` that have these names.
///
/// # Errors
///
/// Where there is none of a name.
#[cfg(feature = "peers")]
pub(crate) fn named<'c>(crates: &'c [Crate], names: &[&str]) -> Result<Vec<&'c Crate>, Error> {
    let found: Vec<_> =
        crates.iter().filter(|found| names.contains(&found.name.as_str())).collect();
    let missing = names.iter().find(|name| !found.iter().any(|found| found.name == **name));
    missing.map_or(Ok(found), |name| Err(Error::Corpus((*name).to_owned())))
}

/// The standard output of a command.
fn output(command: &str, arguments: &[&str]) -> Result<String, Error> {
    let failed = |message: String| Error::Command { command: command.to_owned(), message };
    let output = Command::new(command).args(arguments).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a file is Rust or C.
pub(crate) fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["rs", "c", "h"].iter().any(|known| ending == *known))
}

/// The language of such a file.
pub(crate) fn lang(path: &str) -> Lang {
    let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
    if is_rust { Lang::Rust } else { Lang::C }
}
