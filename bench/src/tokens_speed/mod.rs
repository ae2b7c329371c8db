//! `tokens-speed`: the speed of counting tokens, compared with other tokenizers.
//!
//! Every figure comes from one thread of a separate process. The process loads one tokenizer, warms
//! its caches on other texts, and then counts texts that the tokenizer has not seen. Tokenizers
//! take turns for several rounds, and figures are medians.

mod corpora;
mod engines;
mod worker;

use std::fs;
use std::path::Path;

use lcp_tokens::Encoding;
use serde::de::DeserializeOwned;

use crate::harness::{self, Progress, Result, float, median};
use crate::table::{Better, Row, Wanted};
use corpora::{Corpora, KINDS};
use engines::{ENGINES, LCP, ORACLE, oracle};
pub(crate) use worker::measure;
use worker::{Pass, Start, WithItself};

/// The name of the benchmark.
pub(crate) const NAME: &str = "tokens-speed";

/// The encodings that every peer has.
const ENCODINGS: [Encoding; 2] = [Encoding::O200kBase, Encoding::Cl100kBase];

/// The number of turns of each tokenizer.
const ROUNDS: usize = 5;

/// The number of tokens of the sample, in OpenAI's newest encoding.
const SAMPLE_TOKENS: usize = 10_000;

/// Comparisons of LCP with itself: the task of the process, the unit, the name of the other figure,
/// and the largest ratio.
///
/// * `growth` compares hard texts of 2 MB and of 200 KB.
/// * `limited` compares counting up to a limit in 10 MB with counting only as many tokens.
const WITH_ITSELF: [(&str, &str, &str, f64); 2] = [
    ("growth", "ns/byte", "itself at 200 KB", 3.0),
    ("limited", "ms", "itself on so many tokens", 2.0),
];

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    progress("collecting texts and vocabularies".to_owned());
    prepare(folder, progress)?;
    let mut rows = Vec::new();
    for encoding in ENCODINGS {
        rows.extend(peer_rows(encoding, &race(encoding, folder, progress)?)?);
        progress(format!("{encoding}: hard texts"));
        for (task, unit, other_name, most) in WITH_ITSELF {
            for measured in ask::<Vec<WithItself>>(task, LCP, encoding, folder)? {
                let what = format!("{encoding}, {}", measured.what);
                let row = Row::with_itself(what, unit, measured.own, other_name, measured.other);
                rows.push(row.wants(Wanted::RatioAtMost(most)));
            }
        }
    }
    Ok(rows)
}

/// Writes the files that the measuring processes read.
fn prepare(folder: &Path, progress: &mut Progress<'_>) -> Result<()> {
    for encoding in ENCODINGS {
        engines::write_vocabulary(folder, encoding)?;
    }
    let corpora = Corpora::collect(&engines::tokens(Encoding::O200kBase))?;
    for (kind, texts) in KINDS.iter().zip(&corpora.texts) {
        let bytes: usize = texts.iter().map(String::len).sum();
        progress(format!("{kind}: {} texts, {} KB", texts.len(), bytes / 1000));
    }
    fs::write(folder.join(worker::CORPORA), serde_json::to_vec(&corpora)?)?;
    Ok(fs::write(folder.join(worker::SAMPLE), sample(&corpora.texts[0]))?)
}

/// Returns the beginning of the texts, up to [`SAMPLE_TOKENS`] tokens.
fn sample(texts: &[String]) -> String {
    let mut tokens = oracle(Encoding::O200kBase).encode_ordinary(&texts.concat());
    tokens.truncate(SAMPLE_TOKENS);
    let bytes = oracle(Encoding::O200kBase).decode_bytes(&tokens).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The measurements of one tokenizer in one encoding.
struct Measured {
    engine: &'static str,
    /// For each round, a pass over each kind of text.
    passes: Vec<Vec<Pass>>,
    /// For each round, a start.
    starts: Vec<Start>,
}

impl Measured {
    fn round(&mut self, encoding: Encoding, folder: &Path) -> Result<()> {
        self.passes.push(ask("speed", self.engine, encoding, folder)?);
        self.starts.push(ask("start", self.engine, encoding, folder)?);
        Ok(())
    }

    /// Returns the median and the worst speed over a kind of text, in MB/s.
    fn speeds(&self, kind: usize) -> (f64, f64) {
        let speed = |pass: Pass| float(pass.bytes as u64) / 1e6 / pass.seconds;
        let each = || self.passes.iter().map(|passes| speed(passes[kind]));
        (median(each()), each().fold(f64::INFINITY, f64::min))
    }

    /// Returns the number of tokens that the tokenizer counts in a kind of text.
    fn tokens(&self, kind: usize) -> usize {
        self.passes.first().map_or(0, |passes| passes[kind].tokens)
    }
}

/// Measures each tokenizer in turn, round by round. LCP is the first, tiktoken-rs the last. Any
/// other tokenizer is left out if it fails.
fn race(encoding: Encoding, folder: &Path, progress: &mut Progress<'_>) -> Result<Vec<Measured>> {
    let new = |engine| Measured { engine, passes: Vec::new(), starts: Vec::new() };
    let mut all: Vec<_> = ENGINES.into_iter().map(new).collect();
    for round in 1..=ROUNDS {
        progress(format!("{encoding}: round {round} of {ROUNDS}"));
        for mut measured in std::mem::take(&mut all) {
            match measured.round(encoding, folder) {
                Ok(()) => all.push(measured),
                Err(error) if matches!(measured.engine, LCP | ORACLE) => return Err(error),
                Err(error) => {
                    progress(format!("{encoding}: {} is left out: {error}", measured.engine));
                }
            }
        }
    }
    Ok(all)
}

/// Returns the rows of an encoding: speeds, load time, memory, and the time for a sample. Fails
/// unless LCP counts the same tokens as tiktoken-rs.
fn peer_rows(encoding: Encoding, measured: &[Measured]) -> Result<Vec<Row>> {
    let (Some((lcp, peers)), Some(oracle)) = (measured.split_first(), measured.last()) else {
        return Err("nothing was measured".into());
    };
    let mut rows = Vec::new();
    for (at, kind) in KINDS.into_iter().enumerate() {
        let (own, right) = (lcp.tokens(at), oracle.tokens(at));
        if own != right {
            let message = format!("LCP counts {own} tokens, {ORACLE} {right}");
            return Err(format!("{encoding}, {kind}: {message}").into());
        }
        for peer in peers {
            let (mark, wanted) = match (kind, peer.engine) {
                ("code", "fastokens") => (" (goal)", Some(1.05)),
                (_, "fastokens") => (" (goal)", Some(1.0)),
                ("code", "toktok-rs" | "tiktoken") => (" (floor)", Some(1.0)),
                _ => ("", None),
            };
            let ((own, own_worst), (other, other_worst)) = (lcp.speeds(at), peer.speeds(at));
            let what = format!("{encoding}, {kind}{mark}");
            let row = Row::new(what, Better::Higher, "MB/s", own, peer.engine, other)
                .worst(own_worst, other_worst)
                .notes(inexact(peer.tokens(at), right))
                .wants(wanted.map(Wanted::RatioAtLeast));
            rows.push(row);
        }
    }
    for peer in peers.iter().filter(|peer| peer.engine != ORACLE) {
        let times = |engine: &Measured| engine.speeds(0).0 / oracle.speeds(0).0;
        let what = format!("{encoding}, code, × {ORACLE}");
        rows.push(Row::new(what, Better::Higher, "x", times(lcp), peer.engine, times(peer)));
    }
    for peer in peers {
        rows.extend(start_rows(encoding, lcp, peer));
    }
    Ok(rows)
}

/// Describes the error in a peer's count, or returns `None` if the count is right.
fn inexact(tokens: usize, right: usize) -> Option<String> {
    let sign = if tokens > right { '+' } else { '-' };
    let by = tokens.abs_diff(right);
    (by > 0).then(|| format!("inexact: {sign}{by} of {right} tokens"))
}

/// Returns the rows of load time, memory, and the time for a sample. Those beside the oracle, which
/// most Rust programs use, have conditions.
fn start_rows(encoding: Encoding, lcp: &Measured, peer: &Measured) -> Vec<Row> {
    let figure = |measured: &Measured, of: &dyn Fn(&Start) -> Option<f64>| {
        let each: Option<Vec<f64>> = measured.starts.iter().map(of).collect();
        each.map(median)
    };
    let wanted = (peer.engine == ORACLE).then_some(Wanted::RatioAtLeast(1.0));
    let row = |what: &str, unit, of: &dyn Fn(&Start) -> Option<f64>| {
        let (own, others) = (figure(lcp, of)?, figure(peer, of)?);
        let what = format!("{encoding}, {what}");
        Some(Row::new(what, Better::Lower, unit, own, peer.engine, others).wants(wanted))
    };
    let megabytes = |kib: Option<u32>| Some(f64::from(kib?) / 1024.0);
    let tokens = lcp.starts.first().map_or(0, |start| start.sample_tokens);
    let sample = format!("{tokens} tokens, nothing cached");
    let rows = [
        row("load and first count", "ms", &|start| Some(start.load_seconds * 1e3)),
        row("resident after it", "MiB", &|start| megabytes(start.resident_kib)),
        row("peak meanwhile", "MiB", &|start| megabytes(start.peak_kib)),
        row(&sample, "ms", &|start| Some(start.sample_seconds * 1e3)),
    ];
    rows.into_iter().flatten().collect()
}

/// Runs a measuring process, and returns its figures.
fn ask<T: DeserializeOwned>(
    task: &str,
    engine: &str,
    encoding: Encoding,
    folder: &Path,
) -> Result<T> {
    harness::ask(NAME, &[task, engine, encoding.name()], folder)
}
