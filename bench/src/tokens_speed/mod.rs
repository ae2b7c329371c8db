//! `tokens-speed`: how fast texts are counted, beside other tokenizers.
//!
//! Every figure is of one thread and of a process of its own, in which one
//! tokenizer has loaded, has warmed its caches on other texts, and then counts
//! texts that it never saw. Tokenizers take turns, several rounds; figures are
//! medians. `docs/benchmarks.md` tells what the rows mean.

mod corpora;
mod engines;
mod multilingual;
mod rows;
mod vocabulary;
mod worker;

use std::fs;
use std::path::Path;
use std::process::Command;

use lcp_tokens::Encoding;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use crate::error::Error;
use crate::table::Report;
use corpora::Corpora;
use engines::Engine;
use worker::{Growth, Limited, Pass, Start};

/// Its name.
pub const NAME: &str = "tokens-speed";

/// The encodings that every peer has.
const ENCODINGS: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

/// How often each tokenizer has its turn.
const ROUNDS: usize = 5;

/// The file of texts, in the folder that all processes share.
const CORPORA: &str = "corpora.json";

/// The file of the text that a process counts once.
const SAMPLE: &str = "sample.txt";

/// Tokens of the sample, by OpenAI's newest encoding.
const SAMPLE_TOKENS: usize = 10_000;

/// What was measured of one tokenizer in one encoding.
struct Measured {
    engine: Engine,
    /// For each round, a pass over each kind of text.
    passes: Vec<Vec<Pass>>,
    /// For each round, a start.
    starts: Vec<Start>,
}

impl Measured {
    fn name(&self) -> &'static str {
        self.engine.name()
    }
}

/// Measures everything. Each step is told to `progress`.
///
/// # Errors
///
/// [`Error`]. A peer that does not load is told to `progress`, and left out.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let folder = tempfile::tempdir()
        .map_err(|error| Error::io("make a folder in", &std::env::temp_dir(), error))?;
    let folder = folder.path();
    progress("collecting texts and vocabularies".to_owned());
    prepare(folder, progress)?;

    let mut rows = Vec::new();
    for encoding in ENCODINGS {
        let measured = race(encoding, folder, progress)?;
        check(encoding, &measured)?;
        rows.extend(rows::of_encoding(encoding, &measured));
        progress(format!("{encoding}: hard texts"));
        let growth: Vec<Growth> = ask("growth", Engine::Lcp, encoding, folder)?;
        rows.extend(rows::of_growth(encoding, &growth));
        let limited: Vec<Limited> = ask("limited", Engine::Lcp, encoding, folder)?;
        rows.extend(rows::of_limited(encoding, &limited));
    }
    Ok(Report { bench: NAME, rows })
}

/// Writes what the measuring processes read.
fn prepare(folder: &Path, progress: &mut dyn FnMut(String)) -> Result<(), Error> {
    for encoding in ENCODINGS {
        vocabulary::write(folder, encoding)?;
    }
    let corpora = Corpora::collect(&vocabulary::tokens(Encoding::O200kBase))?;
    for kind in Corpora::KINDS {
        let texts = corpora.texts(kind);
        let bytes: usize = texts.iter().map(String::len).sum();
        progress(format!("{kind}: {} texts, {} KB", texts.len(), bytes / 1000));
    }
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|error| Error::io("write", &path, error))
    };
    let json = serde_json::to_vec(&corpora)
        .map_err(|error| Error::Worker { message: error.to_string() })?;
    write(CORPORA, &json)?;
    write(SAMPLE, sample(&corpora.code).as_bytes())
}

/// The first texts, until there are enough tokens.
fn sample(texts: &[String]) -> String {
    let mut tokens = vocabulary::oracle(Encoding::O200kBase).encode_ordinary(&texts.concat());
    tokens.truncate(SAMPLE_TOKENS);
    let bytes = vocabulary::oracle(Encoding::O200kBase).decode_bytes(&tokens).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Each tokenizer in turn, round by round.
fn race(
    encoding: Encoding,
    folder: &Path,
    progress: &mut dyn FnMut(String),
) -> Result<Vec<Measured>, Error> {
    let new = |engine| Measured { engine, passes: Vec::new(), starts: Vec::new() };
    let mut all: Vec<Measured> = Engine::ALL.map(new).into();
    for round in 1..=ROUNDS {
        progress(format!("{encoding}: round {round} of {ROUNDS}"));
        let mut failed = Vec::new();
        for measured in &mut all {
            let engine = measured.engine;
            let passes = ask("speed", engine, encoding, folder);
            let start = ask("start", engine, encoding, folder);
            match passes.and_then(|passes| Ok((passes, start?))) {
                Ok((passes, start)) => {
                    measured.passes.push(passes);
                    measured.starts.push(start);
                }
                Err(error) if matches!(engine, Engine::Lcp | Engine::TiktokenRs) => {
                    return Err(error);
                }
                Err(error) => {
                    progress(format!("{encoding}: {} is left out: {error}", engine.name()));
                    failed.push(engine);
                }
            }
        }
        all.retain(|measured| !failed.contains(&measured.engine));
    }
    Ok(all)
}

/// LCP counts what tiktoken-rs counts, or it has no business to be quick.
fn check(encoding: Encoding, measured: &[Measured]) -> Result<(), Error> {
    let find = |engine| measured.iter().find(|measured| measured.engine == engine);
    let passes = |engine| find(engine).and_then(|measured| measured.passes.first());
    let pairs = passes(Engine::Lcp).zip(passes(Engine::TiktokenRs));
    let (lcp, oracle) =
        pairs.ok_or(Error::Worker { message: "nothing was measured".to_owned() })?;
    for ((kind, lcp), oracle) in Corpora::KINDS.into_iter().zip(lcp).zip(oracle) {
        if lcp.tokens != oracle.tokens {
            let (found, right) = (lcp.tokens, oracle.tokens);
            return Err(Error::Inexact { encoding, kind, found, right });
        }
    }
    Ok(())
}

/// Has another process of this program measure something.
fn ask<T: DeserializeOwned>(
    what: &str,
    engine: Engine,
    encoding: Encoding,
    folder: &Path,
) -> Result<T, Error> {
    let failed = |message: String| Error::Worker { message };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let output = Command::new(program)
        .args([NAME, WORKER, what, engine.name(), encoding.name()])
        .arg(folder)
        // One thread, for those that would take more.
        .env("FASTOKENS_BPE_THREADS", "1")
        .env("RAYON_NUM_THREADS", "1")
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
}

/// The argument that makes a process a measuring one.
pub const WORKER: &str = "--measure";

/// What a measuring process does, and prints: `arguments` are those after
/// [`WORKER`].
///
/// # Errors
///
/// [`Error`].
pub fn measure(arguments: &[String]) -> Result<String, Error> {
    fn json(measured: Result<impl Serialize, Error>) -> Result<String, Error> {
        serde_json::to_string(&measured?)
            .map_err(|error| Error::Worker { message: error.to_string() })
    }
    let unknown = || Error::Worker { message: format!("cannot measure {arguments:?}") };
    let [what, engine, encoding, folder] = arguments else { return Err(unknown()) };
    let engine = Engine::from_name(engine).ok_or_else(unknown)?;
    let encoding = Encoding::from_name(encoding).ok_or_else(unknown)?;
    let folder = Path::new(folder);
    match what.as_str() {
        "speed" => json(worker::speed(engine, encoding, folder)),
        "start" => json(worker::start(engine, encoding, folder)),
        "growth" => json(worker::growth(encoding)),
        "limited" => json(worker::limited(encoding, folder)),
        _ => Err(unknown()),
    }
}

/// The figure in the middle.
fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
