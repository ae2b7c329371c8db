//! `exact`: our counts against those of tiktoken-rs, or of Python's tiktoken,
//! on more text than tests have the time for.

mod corpora;
mod fixtures;
mod hurt;
mod languages;
mod oracle;
mod shrink;

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use corpora::Corpus;
use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::{Result, files};
use oracle::{Oracle, Python};
use shrink::shrink;

/// Compare our token counts with those of tiktoken-rs, or of Python's tiktoken
///
/// Takes minutes, on two threads. Every difference is printed with the shortest
/// text that shows it, and makes the exit code 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Random strings for the two newest encodings; a tenth for the others
    #[arg(long, value_name = "N", default_value = "1000000")]
    strings: usize,
    /// Compare with Python's tiktoken, which is installed below the build folder
    #[arg(long)]
    python: bool,
    /// Rewrite the fixtures of lcp-tokens by Python's counts, and do nothing else
    #[arg(long, requires = "python")]
    bless: bool,
}

const THREADS: usize = 2;

/// Texts that are compared at once, and bytes of them.
const BATCH_TEXTS: usize = 4_096;
const BATCH_BYTES: usize = 1 << 20;

/// Differences that are shown, of an encoding and a kind of text.
const SHOWN: usize = 10;

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    if cfg!(debug_assertions) && !args.bless {
        return again_in_release(args, output);
    }
    let metadata = corpora::metadata()?;
    let python = args.python.then(|| Python::install(&metadata, output)).transpose()?;
    if let Some(python) = python.as_ref().filter(|_| args.bless) {
        let path = crate::workspace().join("crates/lcp-tokens/tests/fixtures/tiktoken.json");
        return files::write(Some(&path), &python.fixtures(&fixtures::texts())?);
    }
    let corpora = corpora::all(&metadata, args.strings)?;
    let start = Instant::now();
    let rows = compare_all(&corpora, python.as_ref(), output)?;
    let oracle = match python {
        Some(_) => format!("tiktoken {} (Python)", oracle::TIKTOKEN),
        None => "tiktoken-rs".to_owned(),
    };
    output.progress(format!("{} s", start.elapsed().as_secs()));
    files::write(None, table(&oracle, &rows).as_bytes())?;
    match rows.iter().map(|row| row.differences).sum() {
        0usize => Ok(()),
        n => Err(Failure::new(Code::Io, format!("{n} texts count otherwise than {oracle} says"))),
    }
}

/// The engine as it ships, and an oracle that does not take an hour.
fn again_in_release(args: &Args, output: &Output) -> Result {
    output.progress("building for release");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", "xtask", "--", "exact"]);
    command.arg("--strings").arg(args.strings.to_string());
    command.args(args.python.then_some("--python")).args(output.quiet.then_some("--quiet"));
    let status = command
        .current_dir(crate::workspace())
        .status()
        .map_err(|error| Failure::io("run", "cargo", &error))?;
    if status.success() {
        return Ok(());
    }
    Err(Failure::new(Code::Io, "the comparison failed"))
}

/// What was compared, and how it went.
struct Row {
    encoding: Encoding,
    what: &'static str,
    texts: usize,
    bytes: usize,
    tokens: usize,
    differences: usize,
}

fn compare_all(corpora: &[Corpus], python: Option<&Python>, output: &Output) -> Result<Vec<Row>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        // One encoding at a time, so that each has one oracle.
        while let Some(encoding) = Encoding::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut oracle = Oracle::new(*encoding, python)?;
            for corpus in corpora {
                let start = Instant::now();
                let row = compare(*encoding, corpus, &mut oracle, output)?;
                output.progress(format!(
                    "{encoding:<13} {:<15} {:>7} texts, {:>9} bytes, {} differences, {:.1} s",
                    row.what,
                    row.texts,
                    row.bytes,
                    row.differences,
                    start.elapsed().as_secs_f64(),
                ));
                rows.push(row);
            }
        }
        Ok(rows)
    };
    let results: Vec<Result<Vec<Row>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let died = |_| Err(Failure::new(Code::Io, "a thread of the comparison panicked"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(died)).collect()
    });
    let mut rows = Vec::new();
    for result in results {
        rows.extend(result?);
    }
    let place = |row: &Row| Encoding::ALL.iter().position(|encoding| *encoding == row.encoding);
    rows.sort_by_key(place);
    Ok(rows)
}

fn compare(
    encoding: Encoding,
    corpus: &Corpus,
    oracle: &mut Oracle,
    output: &Output,
) -> Result<Row> {
    let counter = Tiktoken::new(encoding);
    let what = corpus.what;
    let mut row = Row { encoding, what, texts: 0, bytes: 0, tokens: 0, differences: 0 };
    let mut texts = (0..(corpus.len)(encoding)).map(&corpus.text);
    loop {
        let batch = batch(&mut texts);
        if batch.is_empty() {
            return Ok(row);
        }
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        for (text, expected) in batch.iter().zip(oracle.counts(&batch)?) {
            row.texts += 1;
            row.bytes += text.len();
            row.tokens += expected;
            if counter.estimate(text) as usize == expected {
                continue;
            }
            row.differences += 1;
            if row.differences <= SHOWN {
                let differs = |part: &str| {
                    let counts = oracle.counts(&[part])?;
                    Ok::<_, Failure>(counts != [counter.estimate(part) as usize])
                };
                let part = shrink(text, differs)?;
                let expected = oracle.counts(&[part])?[0];
                let ours = counter.estimate(part);
                output.print(format!("{encoding}, {what}: {ours}, not {expected}: {part:?}"));
            }
        }
    }
}

/// The next texts, as many as go at once.
fn batch(texts: &mut impl Iterator<Item = String>) -> Vec<String> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    while batch.len() < BATCH_TEXTS && bytes < BATCH_BYTES {
        let Some(text) = texts.next() else { break };
        bytes += text.len();
        batch.push(text);
    }
    batch
}

fn table(oracle: &str, rows: &[Row]) -> String {
    let head = format!(
        "Compared with {oracle}\n\n\
         | encoding      | what            |   texts |     bytes |   tokens | differences |\n\
         |---------------|-----------------|--------:|----------:|---------:|------------:|\n"
    );
    let lines = rows.iter().map(|Row { encoding, what, texts, bytes, tokens, differences }| {
        format!(
            "| {encoding:<13} | {what:<15} | {texts:>7} | {bytes:>9} | {tokens:>8} | \
             {differences:>11} |\n"
        )
    });
    std::iter::once(head).chain(lines).collect()
}
