//! Our counts and ids equal those of tiktoken-rs, or of Python's tiktoken with `LCP_PYTHON=1`, on
//! crate sources, prose, multilingual and adversarial text. Prints every difference with the
//! shortest text that shows it.

mod adversarial;
mod corpora;
mod fixtures;
mod languages;
mod oracle;
mod shrink;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};

use crate::{Result, failure};
use corpora::Corpus;
use oracle::{Oracle, Python};
use shrink::shrink;

/// Random strings for the two newest encodings; the others get a tenth. `LCP_STRINGS` sets it.
const STRINGS: usize = 1_000_000;

const THREADS: usize = 2;

/// Texts that are compared at once, and bytes of them.
const BATCH_TEXTS: usize = 4_096;
const BATCH_BYTES: usize = 1 << 20;

/// Differences that are shown, of an encoding and a kind of text.
const SHOWN: usize = 10;

#[test]
#[ignore = "takes minutes"]
fn tokens_match_tiktoken() {
    let metadata = corpora::metadata().unwrap();
    let is_python = std::env::var_os("LCP_PYTHON").is_some();
    let python = is_python.then(|| Python::install(&metadata).unwrap());
    let strings = std::env::var("LCP_STRINGS").map_or(STRINGS, |n| n.parse().unwrap());
    let corpora = corpora::all(&metadata, strings).unwrap();
    let rows = compare_all(&corpora, python.as_ref()).unwrap();
    let oracle = match python {
        Some(_) => format!("tiktoken {} (Python)", oracle::TIKTOKEN),
        None => "tiktoken-rs".to_owned(),
    };
    print!("{}", table(&oracle, &rows));
    assert_eq!(rows.iter().map(|row| row.differences).sum::<usize>(), 0);
}

/// Compares the fixtures of the other tests with Python's tiktoken, or rewrites them.
#[test]
#[ignore = "installs Python packages"]
fn fixtures_match_python_tiktoken() {
    let python = Python::install(&corpora::metadata().unwrap()).unwrap();
    let fixtures = python.fixtures(&fixtures::texts()).unwrap();
    let path = crate::workspace().join("crates/lcp-tokens/tests/fixtures/tiktoken.json");
    if crate::is_blessing() {
        std::fs::write(path, fixtures).unwrap();
    } else {
        assert!(std::fs::read(path).unwrap() == fixtures, "UPDATE_EXPECT=1 rewrites them");
    }
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

fn compare_all(corpora: &[Corpus], python: Option<&Python>) -> Result<Vec<Row>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        // One encoding at a time, so that each has one oracle.
        while let Some(encoding) = Encoding::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut oracle = Oracle::new(*encoding, python)?;
            for corpus in corpora {
                let start = Instant::now();
                let row = compare(*encoding, corpus, &mut oracle)?;
                eprintln!(
                    "{encoding:<13} {:<15} {:>7} texts, {:>9} bytes, {} differences, {:.1} s",
                    row.what,
                    row.texts,
                    row.bytes,
                    row.differences,
                    start.elapsed().as_secs_f64(),
                );
                rows.push(row);
            }
        }
        Ok(rows)
    };
    let results: Vec<Result<Vec<Row>>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let died = |_| Err(failure("a thread of the comparison panicked"));
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

fn compare(encoding: Encoding, corpus: &Corpus, oracle: &mut Oracle) -> Result<Row> {
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
        for (text, expected) in batch.iter().zip(oracle.tokens(&batch)?) {
            row.texts += 1;
            row.bytes += text.len();
            row.tokens += expected.len();
            if equal(counter, text, &expected) {
                continue;
            }
            row.differences += 1;
            if row.differences <= SHOWN {
                let differs = |part: &str| {
                    let tokens = oracle.tokens(&[part])?;
                    Ok::<_, anyhow::Error>(!equal(counter, part, &tokens[0]))
                };
                let part = shrink(text, differs)?;
                let expected = &oracle.tokens(&[part])?[0];
                let (count, ours) = (counter.estimate(part), counter.encode(part));
                eprintln!(
                    "{encoding}, {what}: {count} tokens {ours:?}, not {expected:?}: {part:?}"
                );
            }
        }
    }
}

/// Returns whether the count and the ids of a text are the expected ones.
fn equal(counter: Tiktoken, text: &str, expected: &[u32]) -> bool {
    counter.estimate(text) as usize == expected.len() && counter.encode(text) == expected
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
