//! The programs of `fuzz/`: built by cargo-fuzz, run one process a target.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use lcp_fuzz::{Target, corpus, seeds};

use lcp_cli::Result;
use lcp_cli::failure::{Code, Failure, Output};

use crate::tools;

/// The version that is installed.
const CARGO_FUZZ: &str = "0.13.2";

/// Built programs, one for each target.
pub(super) struct Fuzzer {
    programs: PathBuf,
}

/// What a run of one target did.
pub(super) struct Run {
    pub(super) executions: u64,
    pub(super) seconds: u64,
    /// Edges of the code that the inputs reach.
    pub(super) edges: u64,
    /// Inputs that broke a law, took too long or too much memory.
    pub(super) crashes: Vec<PathBuf>,
}

fn folder() -> PathBuf {
    crate::workspace().join("fuzz")
}

fn created(path: PathBuf) -> Result<PathBuf> {
    fs::create_dir_all(&path).map_err(|error| Failure::io("create", path.display(), &error))?;
    Ok(path)
}

impl Fuzzer {
    /// Builds all programs, optimised and with the instrumentation of libFuzzer.
    pub(super) fn build(address: bool, output: &Output) -> Result<Self> {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = target.unwrap_or_else(|| crate::workspace().join("target"));
        let cargo_fuzz = cargo_fuzz(&target.join("fuzz-tools"), output)?;
        let sanitizer = if address { "address" } else { "none" };
        let build = target.join(format!("fuzz-{sanitizer}"));
        output.progress("building the targets");
        let mut command = Command::new(cargo_fuzz);
        command.arg("fuzz").args(["build", "--fuzz-dir", ".", "--sanitizer", sanitizer]);
        command.arg("--target-dir").arg(&build).current_dir(folder());
        // The compiler's own choice of the workspace must not be that of cargo-fuzz's programs.
        if address {
            command.env("RUSTUP_TOOLCHAIN", "nightly");
        }
        command.env("CARGO_INCREMENTAL", "0").env_remove("CARGO_TARGET_DIR");
        let status = command.status().map_err(|error| Failure::io("run", "cargo-fuzz", &error))?;
        if !status.success() {
            return Err(Failure::new(Code::Io, "the targets could not be built"));
        }
        let host = tools::printed("rustc", &["-vV"], &folder())?;
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
        Ok(Self { programs: build.join(host).join("release") })
    }

    /// Runs one target for so long.
    pub(super) fn run(&self, target: &Target, minutes: f64) -> Result<Run> {
        let work = created(folder().join("work").join(target.name))?;
        let seeds = seeded(target)?;
        let artifacts = created(folder().join("artifacts").join(target.name))?;
        let log = folder().join("work").join(format!("{}.log", target.name));
        let written = File::create(&log).and_then(|log| Ok((log.try_clone()?, log)));
        let (stdout, stderr) =
            written.map_err(|error| Failure::io("write", log.display(), &error))?;
        let start = Instant::now();
        let seconds = (minutes * 60.0).ceil().max(1.0);
        let dictionary = folder().join(format!("dictionaries/{}.dict", target.dictionary));
        let status = Command::new(self.programs.join(target.name))
            .args([&work, &corpus().join(target.name), &seeds])
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-max_len={}", target.bytes_max))
            .arg(format!("-dict={}", dictionary.display()))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            // What takes ten seconds or a gigabyte is a finding.
            .args(["-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"])
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .status()
            .map_err(|error| Failure::io("run", target.name, &error))?;
        let said = fs::read(&log).map_err(|error| Failure::io("read", log.display(), &error))?;
        let said = String::from_utf8_lossy(&said);
        // Those of earlier runs are open as long as they break anything.
        let crashes: Vec<_> =
            files(&artifacts).into_iter().filter(|path| self.breaks(target, path)).collect();
        if !status.success() && crashes.is_empty() {
            let log = super::shown(&log);
            return Err(Failure::new(Code::Io, format!("{} failed: see {log}", target.name)));
        }
        let (executions, edges) = figures(&said);
        Ok(Run { executions, seconds: start.elapsed().as_secs(), edges, crashes })
    }

    /// Whether this input still breaks the target.
    fn breaks(&self, target: &Target, input: &Path) -> bool {
        let status = Command::new(self.programs.join(target.name))
            .args(["-timeout=10", "-rss_limit_mb=1024"])
            .arg(input)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        !status.is_ok_and(|status| status.success())
    }

    /// Makes the committed corpus of a target anew, of all inputs that there are. Returns how
    /// many it has, and their bytes.
    pub(super) fn minimise(&self, target: &Target) -> Result<(usize, u64)> {
        let corpus = corpus().join(target.name);
        let work = created(folder().join("work").join(target.name))?;
        let seeds = seeded(target)?;
        let new = folder().join("work").join(format!("{}.new", target.name));
        _ = fs::remove_dir_all(&new);
        let new = created(new)?;
        let status = Command::new(self.programs.join(target.name))
            .args(["-set_cover_merge=1".into(), format!("-max_len={}", target.bytes_max)])
            // Edges alone: how often each was taken would keep ten times as many.
            .arg("-use_counters=0")
            .args([&new, &corpus, &work, &seeds])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| Failure::io("run", target.name, &error))?;
        let found = files(&new);
        if !status.success() || found.is_empty() {
            return Err(Failure::new(Code::Io, format!("{} could not be minimised", target.name)));
        }
        let replaced = fs::remove_dir_all(&corpus).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        replaced
            .and_then(|()| fs::rename(&new, &corpus))
            .map_err(|error| Failure::io("write", corpus.display(), &error))?;
        Ok(size(&corpus))
    }
}

/// How many files a folder has, and their bytes.
pub(super) fn size(folder: &Path) -> (usize, u64) {
    let files = files(folder);
    let bytes = files.iter().filter_map(|path| fs::metadata(path).ok()).map(|it| it.len()).sum();
    (files.len(), bytes)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// A folder with the inputs of this repository for a target.
fn seeded(target: &Target) -> Result<PathBuf> {
    let folder = created(folder().join("work/seeds").join(target.name))?;
    for (at, seed) in seeds(target.name).iter().enumerate() {
        let path = folder.join(at.to_string());
        fs::write(&path, seed).map_err(|error| Failure::io("write", path.display(), &error))?;
    }
    Ok(folder)
}

/// Executions and edges, as libFuzzer says them: with the last word that it said of each.
fn figures(said: &str) -> (u64, u64) {
    let after = |word: &str, line: &str| -> Option<u64> {
        line.split_once(word)?.1.split_whitespace().next()?.parse().ok()
    };
    let edges = said.lines().rev().find_map(|line| after(" cov: ", line)).unwrap_or_default();
    let counted = said
        .lines()
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok());
    // A crash ends it without figures: the number of the last line is close.
    let counted = counted.or_else(|| {
        said.lines().rev().find_map(|line| line.strip_prefix('#')?.split('\t').next()?.parse().ok())
    });
    (counted.unwrap_or_default(), edges)
}

/// cargo-fuzz: that of the system, or one that is installed here.
fn cargo_fuzz(folder: &Path, output: &Output) -> Result<PathBuf> {
    if tools::is_there("cargo-fuzz") {
        return Ok("cargo-fuzz".into());
    }
    let program = folder.join("bin/cargo-fuzz");
    if !program.exists() {
        output.progress(format!("installing cargo-fuzz {CARGO_FUZZ}"));
        let folder = folder.display().to_string();
        let version = format!("cargo-fuzz@{CARGO_FUZZ}");
        let install = ["install", &version, "--locked", "--debug", "--quiet", "--root", &folder];
        tools::tool("cargo", &install, &crate::workspace())?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_libfuzzer_says() {
        let said = "INFO: seed\n#2\tINITED cov: 12 ft: 13\n#4096\tpulse  cov: 99 ft: 200\n";
        assert_eq!(figures(said), (4096, 99));
        let done = format!("{said}Done\nstat::number_of_executed_units: 5000\n");
        assert_eq!(figures(&done), (5000, 99));
        assert_eq!(figures(""), (0, 0));
    }
}
