//! The sources of this workspace's dependencies, which are the same on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_testkit::files_in;
use lcp_testkit::python::output;
use lcp_types::Lang;
use serde_json::Value;

use crate::harness::{Result, at};

/// The size of the largest file that is read, in bytes. Larger files are generated tables.
const FILE_BYTES_MAX: u64 = 512 << 10;

/// A dependency of this workspace.
pub(crate) struct Crate {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

impl Crate {
    /// Returns the wanted files, each with its path below the crate's folder, sorted.
    pub(crate) fn files(&self, wanted: fn(&Path) -> bool) -> Result<Vec<(String, String)>> {
        let mut paths = files_in(&self.folder, FILE_BYTES_MAX).map_err(at(&self.folder))?;
        paths.retain(|path| wanted(path));
        let mut texts = Vec::new();
        for path in paths {
            let bytes = fs::read(&path).map_err(at(&path))?;
            let below = path.strip_prefix(&self.folder).unwrap_or(&path).display().to_string();
            let text = String::from_utf8(bytes).ok().filter(|text| !text.is_empty());
            texts.extend(text.map(|text| (below, text)));
        }
        Ok(texts)
    }
}

/// Returns a command for cargo, the same one that started this program.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the dependencies from the registry, sorted by name and folder, and so by version.
pub(crate) fn crates() -> Result<Vec<Crate>> {
    let host = output(Command::new("rustc").arg("-vV"))?;
    let host = String::from_utf8_lossy(&host);
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let mut cargo = cargo();
    cargo.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    cargo.args(["--filter-platform", host, "--manifest-path"]);
    let metadata = output(cargo.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")))?;
    let metadata: Value = serde_json::from_slice(&metadata)?;
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

/// Returns the crates with these names. Fails if there is no crate with one of them.
pub(crate) fn named<'c>(crates: &'c [Crate], names: &[&str]) -> Result<Vec<&'c Crate>> {
    for name in names {
        if !crates.iter().any(|known| known.name == *name) {
            return Err(format!("{name} is not a dependency of this workspace").into());
        }
    }
    Ok(crates.iter().filter(|known| names.contains(&known.name.as_str())).collect())
}

/// Returns whether a file is Rust or C.
pub(crate) fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["rs", "c", "h"].iter().any(|known| ending == *known))
}

/// Returns the language of a Rust or C file.
pub(crate) fn lang(path: &str) -> Lang {
    let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
    if is_rust { Lang::Rust } else { Lang::C }
}
