//! What is counted: the sources of the crates that this workspace builds with,
//! so every machine has them and has the same.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lcp_testkit::{comments, files_in, is_prose};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Error, multilingual};

/// Crates whose files warm the caches.
const WARM: &[&str] = &[
    "aho-corasick",
    "blake3",
    "bstr",
    "hashbrown",
    "itertools",
    "memchr",
    "proptest",
    "rayon",
    "regex-automata",
    "serde",
    "serde_json",
];

/// Crates whose code is counted: Rust, and C.
const CODE: &[&str] = &["tokio", "zstd-sys"];

/// Crates whose documentation comments are counted as prose.
const PROSE: &[&str] = &["bitvec", "fancy-regex", "rand", "regex", "rustix", "syn", "zerocopy"];

/// Larger files are tables that a program made.
const FILE_BYTES_MAX: u64 = 512 << 10;

/// Bytes of made-up multilingual text: to warm with, and to count.
const MULTILINGUAL_BYTES: (usize, usize) = (1 << 20, 2 << 20);

/// The texts, one for each file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Corpora {
    /// What caches are warmed with: some of each kind.
    pub(super) warm: Vec<String>,
    pub(super) code: Vec<String>,
    pub(super) prose: Vec<String>,
    pub(super) multilingual: Vec<String>,
}

impl Corpora {
    /// The kinds of text, as rows call them.
    pub(super) const KINDS: [&str; 3] = ["code", "prose", "multilingual"];

    /// The texts of a kind.
    pub(super) fn texts(&self, kind: &str) -> &[String] {
        match kind {
            "code" => &self.code,
            "prose" => &self.prose,
            _ => &self.multilingual,
        }
    }

    /// Collects them. `vocabulary` is what multilingual text is made of.
    pub(super) fn collect(vocabulary: &[(Vec<u8>, u32)]) -> Result<Self, Error> {
        let crates = crates()?;
        let named = |names: &[&str]| -> Result<Vec<&Crate>, Error> {
            let found: Vec<_> =
                crates.iter().filter(|found| names.contains(&found.name.as_str())).collect();
            let missing = names.iter().find(|name| !found.iter().any(|found| found.name == **name));
            missing.map_or(Ok(found), |name| Err(Error::Corpus((*name).to_owned())))
        };
        let mut known = Known::default();

        let warm_crates = named(WARM)?;
        let mut warm = Vec::new();
        for found in &warm_crates {
            warm.extend(known.new_to(found.files(is_code)?));
            warm.extend(known.new_to(found.files(is_prose)?));
        }
        let mut code = Vec::new();
        for found in named(CODE)? {
            code.extend(known.new_to(found.files(is_code)?));
        }
        let mut prose = Vec::new();
        for found in &crates {
            if !WARM.contains(&found.name.as_str()) {
                prose.extend(known.new_to(found.files(is_prose)?));
            }
        }
        for found in named(PROSE)? {
            let comments = found.files(is_code)?.iter().map(|text| comments(text)).collect();
            prose.extend(known.new_to(comments));
        }
        warm.extend(multilingual::texts(vocabulary, 1, MULTILINGUAL_BYTES.0));
        let multilingual = multilingual::texts(vocabulary, 2, MULTILINGUAL_BYTES.1);
        Ok(Self { warm, code, prose, multilingual })
    }
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["rs", "c", "h"].iter().any(|known| ending == *known))
}

/// Lines that were seen: licences are the same in many crates, some crates are
/// there in two versions, and some carry their own old versions.
#[derive(Default)]
struct Known {
    lines: HashSet<String>,
}

impl Known {
    /// The texts that are mostly new.
    fn new_to(&mut self, texts: Vec<String>) -> Vec<String> {
        texts.into_iter().filter(|text| self.is_new(text)).collect()
    }

    fn is_new(&mut self, text: &str) -> bool {
        let mut fresh = 0;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if self.lines.insert(line.to_owned()) {
                fresh += line.len() + 1;
            }
        }
        fresh * 2 > text.len()
    }
}

/// A crate that this workspace builds with.
struct Crate {
    name: String,
    folder: PathBuf,
}

impl Crate {
    /// The texts of the files that are wanted, sorted by their paths.
    fn files(&self, wanted: fn(&Path) -> bool) -> Result<Vec<String>, Error> {
        let mut paths = files_in(&self.folder, FILE_BYTES_MAX)
            .map_err(|error| Error::io("list", &self.folder, error))?;
        paths.retain(|path| wanted(path));
        let mut texts = Vec::new();
        for path in paths {
            let bytes = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
            texts.extend(String::from_utf8(bytes).ok().filter(|text| !text.is_empty()));
        }
        Ok(texts)
    }
}

/// The crates from the registry, sorted by name and version.
fn crates() -> Result<Vec<Crate>, Error> {
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
