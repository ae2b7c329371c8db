//! datasketch's `MinHashLSH`, run by Python: `bench/peers/datasketch_lsh.py`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::programs;

/// Its name, that of the package that `pip` installs.
const NAME: &str = "datasketch";

/// What the program says.
#[derive(Deserialize)]
pub(super) struct Answer {
    pub(super) versions: Versions,
    pub(super) ways: Vec<Way>,
}

#[derive(Deserialize)]
pub(super) struct Versions {
    pub(super) datasketch: String,
    pub(super) numpy: String,
}

/// A way to use it.
#[derive(Deserialize)]
pub(super) struct Way {
    pub(super) name: String,
    /// How many, and how many permutations each.
    pub(super) bands: (usize, usize),
    /// Processor time of each round.
    pub(super) seconds: Vec<f64>,
    /// What it takes for near, the later text first.
    pub(super) pairs: HashSet<(u32, u32)>,
}

impl Way {
    /// The best round, in milliseconds.
    pub(super) fn best(&self) -> f64 {
        self.seconds.iter().copied().fold(f64::INFINITY, f64::min) * 1e3
    }
}

/// Asks it which of these sets of lines are near.
///
/// # Errors
///
/// Why it cannot be asked, in words.
pub(super) fn ask<'t>(
    sets: impl Iterator<Item = Vec<&'t str>>,
    percent: usize,
    rounds: usize,
    progress: &mut dyn FnMut(String),
) -> Result<Answer, String> {
    let python = programs::python_with(NAME, progress)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let texts = folder.path().join("texts.jsonl");
    write(&texts, sets).map_err(|error| error.to_string())?;
    progress(format!("{NAME} looks for near texts"));
    let script = programs::scripts().join("datasketch_lsh.py");
    let mut command = Command::new(python);
    command.arg(script).arg(&texts).args([percent.to_string(), rounds.to_string()]);
    let answer = programs::output(&mut command)?;
    serde_json::from_slice(&answer).map_err(|error| error.to_string())
}

fn write<'t>(path: &Path, sets: impl Iterator<Item = Vec<&'t str>>) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for set in sets {
        serde_json::to_writer(&mut out, &set)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}
