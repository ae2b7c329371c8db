//! The Python package beside the packages that its users have today: tiktoken and langchain-core
//! (`bench/peers/python_package.py`).

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::json;

use crate::harness::{Progress, Result};
use crate::programs::{self, last_line, output};
use crate::registry;
use crate::table::{Better, Row, Wanted};

/// The name of the vocabulary of `o200k_base` in tiktoken's cache: the SHA-1 of its address.
const VOCABULARY: &str = "fb374d419588a4632f3f557e76b4b70aebbca790";

/// The largest size of a wheel in megabytes.
const WHEEL_MB_MAX: f64 = 15.0;

/// The crates whose files are counted.
const CORPUS: [&str; 6] =
    ["clap_builder", "regex-automata", "rustix", "serde", "syn", "tokenizers"];

/// The figures of the script.
#[derive(Deserialize)]
struct Figures {
    versions: BTreeMap<String, String>,
    tokens: Tokens,
    /// The times of LCP and of the peer in milliseconds.
    #[serde(flatten)]
    times: BTreeMap<String, (f64, f64)>,
}

#[derive(Deserialize)]
struct Tokens {
    input: u64,
    fitted: u64,
    trimmed: u64,
}

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let python = programs::python_with("python", progress)?;
    let wheel = build_wheel(&python, progress)?;
    let install = ["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"];
    output(Command::new(&python).args(install).arg(&wheel))?;
    let crates = registry::crates()?;
    let cache = copy_vocabulary(&crates, &python)?;
    progress("the script counts and fits".to_owned());
    let figures = measure(&python, &cache, &corpus(&crates)?)?;
    rows(&figures, fs::metadata(&wheel)?.len())
}

/// Builds the package as it is released, and returns the path of the wheel.
fn build_wheel(python: &Path, progress: &mut Progress<'_>) -> Result<PathBuf> {
    progress("maturin builds the wheel".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let wheels = python.with_file_name("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels)?;
    }
    let mut maturin = Command::new(python);
    maturin.args(["-m", "maturin", "build", "--release", "--locked", "--quiet"]);
    maturin.arg("-m").arg(root.join("python/Cargo.toml")).arg("-o").arg(&wheels);
    output(&mut maturin)?;
    let wheel = fs::read_dir(&wheels)?.next().ok_or("maturin built no wheel")??;
    Ok(wheel.path())
}

/// Copies the vocabulary into a folder that tiktoken takes for its cache, so that it needs no
/// network.
fn copy_vocabulary(crates: &[registry::Crate], python: &Path) -> Result<PathBuf> {
    let cache = python.with_file_name("tiktoken");
    fs::create_dir_all(&cache)?;
    let tiktoken = registry::named(crates, &["tiktoken-rs"])?;
    let vocabulary = tiktoken[0].folder.join("assets/o200k_base.tiktoken");
    fs::copy(vocabulary, cache.join(VOCABULARY))?;
    Ok(cache)
}

/// Returns source files and documentation as JSON.
fn corpus(crates: &[registry::Crate]) -> Result<String> {
    let mut files = Vec::new();
    for file in registry::named(crates, &CORPUS)? {
        files.extend(file.files(|path| {
            path.extension().is_some_and(|extension| extension == "rs" || extension == "md")
        })?);
    }
    let files = files.iter().map(|(path, text)| json!({ "path": path, "text": text }));
    Ok(files.collect::<serde_json::Value>().to_string())
}

fn measure(python: &Path, cache: &Path, corpus: &str) -> Result<Figures> {
    let mut script = Command::new(python);
    script.arg(programs::scripts().join("python_package.py")).env("TIKTOKEN_CACHE_DIR", cache);
    // The batch of the peer has two threads, too.
    script.env("RAYON_NUM_THREADS", "2");
    let mut process =
        script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    process.stdin.take().ok_or("no input")?.write_all(corpus.as_bytes())?;
    let output = process.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("python_package.py: {}", last_line(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn rows(figures: &Figures, wheel_bytes: u64) -> Result<Vec<Row>> {
    let version = |name: &str| {
        let version = figures.versions.get(name).map_or("?", String::as_str);
        format!("{name} {version}")
    };
    let times = |key: &str| figures.times.get(key).copied().ok_or(format!("no figure for {key}"));
    let row = |what: &str, key: &str, peer: &str, wanted| -> Result<Row> {
        let (own, other) = times(key)?;
        Ok(Row::new(what, Better::Lower, "ms", own, peer, other).wants(wanted))
    };
    let tiktoken = version("tiktoken");
    let Tokens { input, fitted, trimmed } = figures.tokens;
    let fit = format!(
        "1,000 messages, {input} tokens to 100,000: {fitted} here, {trimmed} there by its own count"
    );
    let (with_import, without_import) = times("import")?;
    let megabytes = f64::from(u32::try_from(wheel_bytes)?) / 1e6;
    Ok(vec![
        row("count, code", "count code", &tiktoken, Wanted::RatioAtLeast(3.0))?,
        row("count, prose", "count prose", &tiktoken, Wanted::RatioAtLeast(3.0))?,
        row("count_batch, code", "batch code", &tiktoken, Wanted::RatioAtLeast(3.0))?,
        row("count_batch, prose", "batch prose", &tiktoken, Wanted::RatioAtLeast(3.0))?,
        row("fit_messages", "fit", &version("langchain-core"), Wanted::RatioAtLeast(20.0))?
            .notes(fit),
        row("the next turn", "next", "fit_messages", Wanted::RatioAtLeast(10.0))?,
        Row::with_itself("import lcp", "ms", with_import, "pass", without_import)
            .wants(Wanted::RatioAtMost(1.5)),
        Row::with_itself("wheel", "MB", megabytes, "limit", WHEEL_MB_MAX)
            .wants(Wanted::RatioAtMost(1.0)),
    ])
}
