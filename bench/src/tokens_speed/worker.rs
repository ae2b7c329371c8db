//! Measurements, each in a separate process with its own caches and memory.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use lcp_testkit::SplitMix64;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use serde::{Deserialize, Serialize};

use super::corpora::Corpora;
use super::engines::load;
use crate::harness::{Error, Result, at, median, memory_kib, process_timed, timed};

/// The file of texts, in the folder that all processes share.
pub(super) const CORPORA: &str = "corpora.json";

/// The file of the sample, which a process counts once.
pub(super) const SAMPLE: &str = "sample.txt";

/// Runs a measurement in this process, and returns the figures as JSON.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let unknown = || format!("cannot measure {arguments:?}");
    let [task, engine, encoding, folder] = arguments else { return Err(unknown().into()) };
    let encoding = Encoding::from_name(encoding).ok_or_else(unknown)?;
    let folder = Path::new(folder);
    let json = match task.as_str() {
        "speed" => serde_json::to_string(&speed(engine, encoding, folder)?),
        "start" => serde_json::to_string(&start(engine, encoding, folder)?),
        "growth" => serde_json::to_string(&growth(encoding)?),
        "limited" => serde_json::to_string(&limited(encoding, folder)?),
        _ => return Err(unknown().into()),
    };
    Ok(json?)
}

/// A pass over the texts of a kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pass {
    pub(super) bytes: usize,
    pub(super) tokens: usize,
    pub(super) seconds: f64,
}

/// Measures one pass over each kind of text, in the order of [`KINDS`](super::corpora::KINDS).
fn speed(engine: &str, encoding: Encoding, folder: &Path) -> Result<Vec<Pass>> {
    let corpora = corpora(folder)?;
    let mut count = load(engine, encoding, folder)?;
    for text in &corpora.warm {
        count(text);
    }
    let pass = |texts: &Vec<String>| {
        let (tokens, time) = timed(|| texts.iter().map(|text| count(text)).sum())?;
        let bytes = texts.iter().map(String::len).sum();
        Ok(Pass { bytes, tokens, seconds: time.as_secs_f64() })
    };
    corpora.texts.iter().map(pass).collect()
}

/// Reads the collected texts.
fn corpora(folder: &Path) -> Result<Corpora> {
    let path = folder.join(CORPORA);
    Ok(serde_json::from_slice(&fs::read(&path).map_err(at(&path))?)?)
}

/// The time and memory that a process needs to start counting.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    /// The processor time of all threads, up to the end of the first count.
    pub(super) load_seconds: f64,
    /// The growth of resident memory meanwhile, if the system reports it.
    pub(super) resident_kib: Option<u32>,
    /// The growth of resident memory at its peak, if the system reports it.
    pub(super) peak_kib: Option<u32>,
    /// The processor time of counting the sample after that.
    pub(super) sample_seconds: f64,
    pub(super) sample_tokens: usize,
}

/// Loads a tokenizer, counts a short text, then counts the sample.
fn start(engine: &str, encoding: Encoding, folder: &Path) -> Result<Start> {
    let before = memory_kib("VmRSS");
    let (loaded, load) = process_timed(|| {
        let mut count = load(engine, encoding, folder)?;
        black_box(count("fn main() {}\n"));
        Ok::<_, Error>(count)
    });
    let mut count = loaded?;
    let grown = |now: Option<u32>| Some(now?.saturating_sub(before?));
    let (resident_kib, peak_kib) = (grown(memory_kib("VmRSS")), grown(memory_kib("VmHWM")));
    let path = folder.join(SAMPLE);
    let sample = fs::read_to_string(&path).map_err(at(&path))?;
    let (sample_tokens, time) = timed(|| count(&sample))?;
    Ok(Start {
        load_seconds: load.as_secs_f64(),
        resident_kib,
        peak_kib,
        sample_seconds: time.as_secs_f64(),
        sample_tokens,
    })
}

/// A function that creates a text of about this many bytes.
type Make = fn(&mut SplitMix64, usize) -> String;

/// Texts that are hard for tokenizers, of any length.
const HARD: &[(&str, Make)] = &[
    ("white space, then x", |_, bytes| " ".repeat(bytes - 1) + "x"),
    ("the letter a", |_, bytes| "a".repeat(bytes)),
    ("Chinese without a space", |rng, bytes| drawn(rng, bytes, &HAN)),
    ("base64", |rng, bytes| drawn(rng, bytes, &BASE64)),
];

/// The alphabets of random texts, as ranges with the first and the last character.
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

/// Returns the median time of five runs in seconds. The input of each run is created before it.
fn median_seconds<T, R>(mut make: impl FnMut() -> T, run: impl Fn(&T) -> R) -> Result<f64> {
    let mut seconds = [0.0; 5];
    for seconds in &mut seconds {
        let input = make();
        *seconds = timed(|| black_box(run(&input)))?.1.as_secs_f64();
    }
    Ok(median(seconds))
}

/// A figure of LCP, and another figure of LCP that it is compared with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WithItself {
    pub(super) what: String,
    pub(super) own: f64,
    pub(super) other: f64,
}

/// Measures the nanoseconds per byte of hard texts, with texts of 2 MB and of 200 KB.
fn growth(encoding: Encoding) -> Result<Vec<WithItself>> {
    let counter = Tiktoken::new(encoding);
    counter.estimate("");
    // Uses a different text each time, unless there is only one.
    let mut rng = SplitMix64::new(3);
    let mut per_byte = |make: Make, bytes: u32| {
        let make = || make(&mut rng, bytes as usize);
        let seconds = median_seconds(make, |text| counter.estimate(black_box(text)))?;
        Ok::<_, Error>(seconds * 1e9 / f64::from(bytes))
    };
    let growth = |(name, make): &(&str, Make)| {
        let (other, own) = (per_byte(*make, 200_000)?, per_byte(*make, 2_000_000)?);
        Ok(WithItself { what: format!("2 MB of {name}"), own, other })
    };
    HARD.iter().map(growth).collect()
}

/// The size of the text that is not counted to its end, in bytes.
const LIMITED_BYTES: usize = 10_000_000;

/// Measures counting up to a limit in a long text, and counting only that part, in milliseconds.
fn limited(encoding: Encoding, folder: &Path) -> Result<Vec<WithItself>> {
    let corpora = corpora(folder)?;
    let mut text = corpora.texts[0].concat();
    text = text.repeat(LIMITED_BYTES / text.len() + 1);
    let counter = Tiktoken::new(encoding);
    let measured = |limit: u32| {
        let alone = counter.truncate_to(&text, limit);
        let own = median_seconds(|| (), |()| counter.count_up_to(black_box(&text), limit))? * 1e3;
        let other = median_seconds(|| (), |()| counter.estimate(black_box(alone)))? * 1e3;
        Ok(WithItself { what: format!("count_up_to {limit} of 10 MB"), own, other })
    };
    [1_000, 100_000, 500_000].into_iter().map(measured).collect()
}
