//! What is measured, each in a process of its own: no tokenizer finds its
//! caches, its memory or the processor as another one left them.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde::{Deserialize, Serialize};

use super::corpora::Corpora;
use super::engines::Engine;
use super::{CORPORA, Error, SAMPLE};
use crate::clock::Spent;

/// A pass over the texts of a kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pass {
    pub(super) bytes: usize,
    pub(super) tokens: usize,
    pub(super) seconds: f64,
}

/// One pass over each kind of text, in the order of [`Corpora::KINDS`].
pub(super) fn speed(engine: Engine, encoding: Encoding, folder: &Path) -> Result<Vec<Pass>, Error> {
    let corpora = corpora(folder)?;
    let mut count = engine.load(encoding, folder)?;
    for text in &corpora.warm {
        count(text);
    }
    let pass = |kind: &&str| {
        let texts = corpora.texts(kind);
        let (tokens, spent) = Spent::on(|| texts.iter().map(|text| count(text)).sum());
        let bytes = texts.iter().map(String::len).sum();
        Ok(Pass { bytes, tokens, seconds: spent.alone()?.as_secs_f64() })
    };
    Corpora::KINDS.iter().map(pass).collect()
}

/// The texts that were collected.
fn corpora(folder: &Path) -> Result<Corpora, Error> {
    let path = folder.join(CORPORA);
    let json = fs::read(&path).map_err(|error| Error::io("read", &path, error))?;
    serde_json::from_slice(&json).map_err(|error| Error::Worker { message: error.to_string() })
}

/// The start of a process that counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// Up to and with the first count, all threads.
    pub(super) load_seconds: f64,
    /// What that added to resident memory, where the system tells.
    pub(super) resident_kib: Option<u32>,
    /// The largest that it was meanwhile, likewise.
    pub(super) peak_kib: Option<u32>,
    /// Then one count of the sample.
    pub(super) sample_seconds: f64,
    pub(super) sample_tokens: usize,
}

/// Loads, counts a little, then counts the sample.
pub(super) fn start(engine: Engine, encoding: Encoding, folder: &Path) -> Result<Start, Error> {
    let before = memory("VmRSS");
    let (loaded, load) = Spent::on(|| {
        let mut count = engine.load(encoding, folder)?;
        let first = count("fn main() {}\n");
        Ok::<_, Error>((count, first))
    });
    let (mut count, _) = loaded?;
    let grown = |now: Option<u32>| Some(now?.saturating_sub(before?));
    let (resident_kib, peak_kib) = (grown(memory("VmRSS")), grown(memory("VmHWM")));
    let path = folder.join(SAMPLE);
    let sample = fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))?;
    let (sample_tokens, spent) = Spent::on(|| count(&sample));
    Ok(Start {
        load_seconds: load.process.as_secs_f64(),
        resident_kib,
        peak_kib,
        sample_seconds: spent.alone()?.as_secs_f64(),
        sample_tokens,
    })
}

/// A figure that Linux tells of this process, in KiB.
fn memory(name: &str) -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// A text that is hard on tokenizers, of any length.
struct Hard {
    name: &'static str,
    make: fn(&mut SplitMix64, usize) -> String,
}

const HARD: &[Hard] = &[
    Hard { name: "white space, then x", make: |_, bytes| " ".repeat(bytes - 1) + "x" },
    Hard { name: "the letter a", make: |_, bytes| "a".repeat(bytes) },
    Hard { name: "Chinese without a space", make: |rng, bytes| drawn(rng, bytes, &HAN) },
    Hard { name: "base64", make: |rng, bytes| drawn(rng, bytes, &BASE64) },
];

/// Characters that are drawn from: ranges, first and last.
const HAN: [(char, char); 1] = [('\u{4e00}', '\u{9fff}')];
const BASE64: [(char, char); 4] = [('A', 'Z'), ('a', 'z'), ('/', '9'), ('+', '+')];

fn drawn(rng: &mut SplitMix64, bytes: usize, ranges: &[(char, char)]) -> String {
    let alphabet: Vec<char> = ranges.iter().flat_map(|(first, last)| *first..=*last).collect();
    let mut text = String::with_capacity(bytes + 3);
    while text.len() < bytes {
        text.push(rng.choose(&alphabet));
    }
    text
}

/// Seconds for a hard text of 200 KB and one of ten times that.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Growth {
    pub(super) name: String,
    pub(super) short_seconds: f64,
    pub(super) long_seconds: f64,
}

/// Bytes of the short hard text; the long one has [`LONG_TIMES`] as many.
const SHORT_BYTES: usize = 200_000;
/// How many times as long the long hard text is.
pub(super) const LONG_TIMES: u32 = 10;

/// How LCP's time grows with the length of hard texts.
pub(super) fn growth(encoding: Encoding) -> Result<Vec<Growth>, Error> {
    let counter = Tiktoken::new(encoding);
    counter.estimate("");
    // Never the same text twice, except where there is only one.
    let mut rng = SplitMix64::new(3);
    let mut median = |hard: &Hard, bytes: usize| {
        let once = |_| {
            let text = (hard.make)(&mut rng, bytes);
            let (_, spent) = Spent::on(|| black_box(counter.estimate(black_box(&text))));
            Ok(spent.alone()?.as_secs_f64())
        };
        let seconds: Vec<f64> = (0..5).map(once).collect::<Result<_, Error>>()?;
        Ok::<_, Error>(super::median(&seconds))
    };
    let growth = |hard: &Hard| {
        Ok(Growth {
            name: hard.name.to_owned(),
            short_seconds: median(hard, SHORT_BYTES)?,
            long_seconds: median(hard, SHORT_BYTES * LONG_TIMES as usize)?,
        })
    };
    HARD.iter().map(growth).collect()
}

/// Seconds to count no further than a limit in a long text, and to count so
/// much of it alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Limited {
    pub(super) limit: u32,
    pub(super) seconds: f64,
    pub(super) alone_seconds: f64,
}

/// Bytes of the text that is not counted to its end.
const LIMITED_BYTES: usize = 10_000_000;

/// What limits save on a long text of code. The smaller ones are less than a
/// token for each 128 bytes, which is known without looking.
pub(super) fn limited(encoding: Encoding, folder: &Path) -> Result<Vec<Limited>, Error> {
    let corpora = corpora(folder)?;
    let mut text = corpora.code.concat();
    text = text.repeat(LIMITED_BYTES / text.len() + 1);
    let counter = Tiktoken::new(encoding);
    let measured = |limit| {
        let alone = counter.truncate_to(&text, limit);
        let median = |count: &dyn Fn()| {
            let once = |_| Ok(Spent::on(count).1.alone()?.as_secs_f64());
            let seconds: Vec<f64> = (0..5).map(once).collect::<Result<_, Error>>()?;
            Ok::<_, Error>(super::median(&seconds))
        };
        Ok(Limited {
            limit,
            seconds: median(&|| {
                black_box(counter.count_up_to(black_box(&text), limit));
            })?,
            alone_seconds: median(&|| {
                black_box(counter.estimate(black_box(alone)));
            })?,
        })
    };
    [1_000, 100_000, 500_000].into_iter().map(measured).collect()
}
