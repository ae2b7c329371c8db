//! `tokens-speed`: how fast texts are counted, compared with other tokenizers.
//!
//! Every figure is of one thread and of a process of its own, in which one tokenizer has loaded,
//! has warmed its caches on other texts, and then counts texts that it never saw. Tokenizers take
//! turns, several rounds; figures are medians.

mod corpora;
mod engines;
mod multilingual;
mod rows;
mod vocabulary;
mod worker;

use std::fs;
use std::path::Path;

use lcp_tokens::Encoding;
use serde::de::DeserializeOwned;

use crate::harness::{self, Progress, Result};
use crate::table::Row;
use corpora::Corpora;
use engines::Engine;
use rows::Measured;
pub(crate) use worker::measure;

/// Its name.
pub(crate) const NAME: &str = "tokens-speed";

/// The encodings that every peer has.
const ENCODINGS: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

/// How often each tokenizer has its turn.
const ROUNDS: usize = 5;

/// Tokens of the sample, by OpenAI's newest encoding.
const SAMPLE_TOKENS: usize = 10_000;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    progress("collecting texts and vocabularies".to_owned());
    prepare(folder, progress)?;
    let mut rows = Vec::new();
    for encoding in ENCODINGS {
        let measured = race(encoding, folder, progress)?;
        check(encoding, &measured)?;
        rows.extend(rows::of_encoding(encoding, &measured));
        progress(format!("{encoding}: hard texts"));
        rows.extend(rows::of_growth(
            encoding,
            &ask::<Vec<_>>("growth", Engine::Lcp, encoding, folder)?,
        ));
        rows.extend(rows::of_limited(
            encoding,
            &ask::<Vec<_>>("limited", Engine::Lcp, encoding, folder)?,
        ));
    }
    Ok(rows)
}

/// Writes what the measuring processes read.
fn prepare(folder: &Path, progress: &mut Progress<'_>) -> Result<()> {
    for encoding in ENCODINGS {
        vocabulary::write(folder, encoding)?;
    }
    let corpora = Corpora::collect(&vocabulary::tokens(Encoding::O200kBase))?;
    for kind in Corpora::KINDS {
        let texts = corpora.texts(kind);
        let bytes: usize = texts.iter().map(String::len).sum();
        progress(format!("{kind}: {} texts, {} KB", texts.len(), bytes / 1000));
    }
    fs::write(folder.join(worker::CORPORA), serde_json::to_vec(&corpora)?)?;
    Ok(fs::write(folder.join(worker::SAMPLE), sample(&corpora.code))?)
}

/// The first texts, until there are enough tokens.
fn sample(texts: &[String]) -> String {
    let mut tokens = vocabulary::oracle(Encoding::O200kBase).encode_ordinary(&texts.concat());
    tokens.truncate(SAMPLE_TOKENS);
    let bytes = vocabulary::oracle(Encoding::O200kBase).decode_bytes(&tokens).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Each tokenizer in turn, round by round.
fn race(encoding: Encoding, folder: &Path, progress: &mut Progress<'_>) -> Result<Vec<Measured>> {
    let new = |engine| Measured { engine, passes: Vec::new(), starts: Vec::new() };
    let mut all: Vec<Measured> = Engine::all().map(new).collect();
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
fn check(encoding: Encoding, measured: &[Measured]) -> Result<()> {
    let find = |engine| measured.iter().find(|measured| measured.engine == engine);
    let passes = |engine| find(engine).and_then(|measured| measured.passes.first());
    let pairs = passes(Engine::Lcp).zip(passes(Engine::TiktokenRs));
    let (lcp, oracle) = pairs.ok_or("nothing was measured")?;
    for ((kind, lcp), oracle) in Corpora::KINDS.into_iter().zip(lcp).zip(oracle) {
        if lcp.tokens != oracle.tokens {
            let (own, right) = (lcp.tokens, oracle.tokens);
            let message = format!("LCP counts {own} tokens, tiktoken-rs {right}");
            return Err(format!("{encoding}, {kind}: {message}").into());
        }
    }
    Ok(())
}

/// Has another process of this program measure something.
fn ask<T: DeserializeOwned>(
    task: &str,
    engine: Engine,
    encoding: Encoding,
    folder: &Path,
) -> Result<T> {
    harness::ask(NAME, &[task, engine.name(), encoding.name()], folder)
}
