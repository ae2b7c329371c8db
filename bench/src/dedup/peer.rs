//! datasketch's `MinHashLSH`, run by Python: `bench/peers/datasketch_lsh.py`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

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
    let python = python(progress)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let texts = folder.path().join("texts.jsonl");
    write(&texts, sets).map_err(|error| error.to_string())?;
    progress(format!("{NAME} looks for near texts"));
    let script = peers().join("datasketch_lsh.py");
    let mut command = Command::new(python);
    command.arg(script).arg(&texts).args([percent.to_string(), rounds.to_string()]);
    let answer = output(&mut command)?;
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

/// A Python that has the versions of `requirements.txt` and nothing else: made
/// once beside this program, with pip.
fn python(progress: &mut dyn FnMut(String)) -> Result<PathBuf, String> {
    let requirements = peers().join("requirements.txt");
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.with_file_name("peers-python");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let has_all = |python: &Path| {
        let frozen = output(Command::new(python).args(["-m", "pip", "freeze"]));
        let frozen = String::from_utf8_lossy(&frozen.unwrap_or_default()).into_owned();
        wanted.lines().all(|line| frozen.lines().any(|frozen| frozen == line))
    };
    if !has_all(&python) {
        progress(format!("pip installs {NAME} in {}", folder.display()));
        output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--requirement"];
        output(Command::new(&python).args(install).arg(&requirements))?;
    }
    Ok(python)
}

/// The standard output of a command.
fn output(command: &mut Command) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    // What matters of a Python traceback stands in its last line.
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name}: {}", said.trim().lines().last().unwrap_or("failed")))
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}
