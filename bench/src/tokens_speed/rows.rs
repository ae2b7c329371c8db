//! The rows of what was measured.

use lcp_tokens::Encoding;

use super::corpora::Corpora;
use super::engines::Engine;
use super::worker::{Pass, Start, WithItself};
use crate::harness::{float, median};
use crate::table::{Better, Row, Wanted};

/// The measurements of one tokenizer in one encoding.
pub(super) struct Measured {
    pub(super) engine: Engine,
    /// For each round, a pass over each kind of text.
    pub(super) passes: Vec<Vec<Pass>>,
    /// For each round, a start.
    pub(super) starts: Vec<Start>,
}

/// Returns the rows of an encoding: speeds, load, memory and a sample.
pub(super) fn of_encoding(encoding: Encoding, measured: &[Measured]) -> Vec<Row> {
    let find = |engine| measured.iter().find(|measured| measured.engine == engine);
    let (Some(lcp), Some(oracle)) = (find(Engine::Lcp), find(Engine::TiktokenRs)) else {
        return Vec::new();
    };
    let peers = || measured.iter().filter(|measured| measured.engine != Engine::Lcp);
    let mut rows = Vec::new();
    for (at, kind) in Corpora::KINDS.iter().enumerate() {
        for peer in peers() {
            let mark = match peer.engine {
                Engine::Fastokens if *kind == "code" => " (goal)",
                Engine::Toktok | Engine::Tiktoken if *kind == "code" => " (floor)",
                _ => "",
            };
            let (own, others) = (speeds(lcp, at), speeds(peer, at));
            let what = format!("{encoding}, {kind}{mark}");
            let (own_median, others_median) = (own.median, others.median);
            let name = peer.engine.name();
            let row = Row::new(what, Better::Higher, "MB/s", own_median, name, others_median)
                .worst(own.min, others.min)
                .notes(difference(peer, oracle, at));
            let is_wanted = !mark.is_empty();
            rows.push(if is_wanted { row.wants(Wanted::RatioAtLeast(1.0)) } else { row });
        }
    }
    for peer in peers().filter(|peer| peer.engine != Engine::TiktokenRs) {
        let times = |engine| speeds(engine, 0).median / speeds(oracle, 0).median;
        let what = format!("{encoding}, code, × tiktoken-rs");
        let (own, others) = (times(lcp), times(peer));
        rows.push(Row::new(what, Better::Higher, "x", own, peer.engine.name(), others));
    }
    for (at, peer) in peers().enumerate() {
        // What is wanted is wanted of LCP alone: once is enough.
        rows.extend(start(encoding, lcp, peer, at == 0));
    }
    rows
}

/// MB/s of the runs over one kind of text.
struct Speeds {
    median: f64,
    min: f64,
}

fn speeds(measured: &Measured, kind: usize) -> Speeds {
    let speed = |pass: Pass| float(pass.bytes as u64) / 1e6 / pass.seconds;
    let each = || measured.passes.iter().map(|passes| speed(passes[kind]));
    Speeds { median: median(each()), min: each().fold(f64::INFINITY, f64::min) }
}

/// Returns what is wrong with a peer's count.
fn difference(peer: &Measured, oracle: &Measured, kind: usize) -> Option<String> {
    let count = |measured: &Measured| measured.passes.first().map(|passes| passes[kind].tokens);
    let (own, right) = (count(peer)?, count(oracle)?);
    let sign = if own > right { '+' } else { '-' };
    let by = own.abs_diff(right);
    (by > 0).then(|| format!("inexact: {sign}{by} of {right} tokens"))
}

fn start(encoding: Encoding, lcp: &Measured, peer: &Measured, is_wanted: bool) -> Vec<Row> {
    let figure = |measured: &Measured, of: &dyn Fn(&Start) -> Option<f64>| {
        let each: Option<Vec<f64>> = measured.starts.iter().map(of).collect();
        each.map(median)
    };
    let row = |what: &str, unit, most: Option<f64>, of: &dyn Fn(&Start) -> Option<f64>| {
        let (own, others) = (figure(lcp, of)?, figure(peer, of)?);
        let what = format!("{encoding}, {what}");
        let row = Row::new(what, Better::Lower, unit, own, peer.engine.name(), others);
        Some(match most {
            Some(most) if is_wanted => row.wants(Wanted::OwnAtMost(most)),
            _ => row,
        })
    };
    let megabytes = |kib: Option<u32>| Some(f64::from(kib?) / 1024.0);
    // The limits are those of the largest vocabulary.
    let (load, memory) = match encoding {
        Encoding::O200kBase => (Some(100.0), Some(64.0)),
        _ => (None, None),
    };
    let tokens = lcp.starts.first().map_or(0, |start| start.sample_tokens);
    let sample = format!("{tokens} tokens, nothing cached");
    let rows = [
        row("load and first count", "ms", load, &|start| Some(start.load_seconds * 1e3)),
        row("resident after it", "MiB", memory, &|start| megabytes(start.resident_kib)),
        row("peak meanwhile", "MiB", None, &|start| megabytes(start.peak_kib)),
        row(&sample, "ms", Some(5.0), &|start| Some(start.sample_seconds * 1e3)),
    ];
    rows.into_iter().flatten().collect()
}

/// Returns rows of LCP and itself: hard texts of 2 MB, and of 200 KB.
pub(super) fn of_growth(encoding: Encoding, growth: &[WithItself]) -> Vec<Row> {
    with_itself(encoding, growth, "ns/byte", "itself at 200 KB", 3.0)
}

/// Returns rows of LCP and itself: counting up to a limit in 10 MB, and counting as many tokens
/// alone.
pub(super) fn of_limited(encoding: Encoding, limited: &[WithItself]) -> Vec<Row> {
    with_itself(encoding, limited, "ms", "itself on so many tokens", 2.0)
}

fn with_itself(
    encoding: Encoding,
    measured: &[WithItself],
    unit: &'static str,
    name: &str,
    most: f64,
) -> Vec<Row> {
    let row = |WithItself { what, own, other }: &WithItself| {
        Row::with_itself(format!("{encoding}, {what}"), unit, *own, name, *other)
            .wants(Wanted::RatioAtMost(most))
    };
    measured.iter().map(row).collect()
}
