//! What was measured, as rows.

use lcp_tokens::Encoding;

use super::corpora::Corpora;
use super::engines::Engine;
use super::worker::{Growth, LONG_TIMES, Limited, Pass, Start};
use super::{Measured, median};
use crate::table::{Better, Row, Wanted};

/// What a row compares.
struct Comparison<'a> {
    encoding: Encoding,
    lcp: &'a Measured,
    peer: &'a Measured,
    /// tiktoken-rs, whose counts are right by definition.
    oracle: &'a Measured,
}

/// The rows of an encoding: speeds of each kind of text beside each peer, then
/// speeds in units of tiktoken-rs, then load, memory and a sample.
pub(super) fn of_encoding(encoding: Encoding, measured: &[Measured]) -> Vec<Row> {
    let find = |engine| measured.iter().find(|measured| measured.engine == engine);
    let (Some(lcp), Some(oracle)) = (find(Engine::Lcp), find(Engine::TiktokenRs)) else {
        return Vec::new();
    };
    let peers = || measured.iter().filter(|measured| measured.engine != Engine::Lcp);
    let mut rows = Vec::new();
    for (at, kind) in Corpora::KINDS.iter().enumerate() {
        for peer in peers() {
            rows.push(speed(&Comparison { encoding, lcp, peer, oracle }, at, kind));
        }
    }
    for peer in peers().filter(|peer| peer.engine != Engine::TiktokenRs) {
        let times = |engine: &Measured| speeds(engine, 0).median / speeds(oracle, 0).median;
        let what = format!("{encoding}, code, × tiktoken-rs");
        rows.push(Row::named(what, Better::Higher, "x").figures(
            times(lcp),
            peer.name(),
            times(peer),
        ));
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
    let each: Vec<f64> = measured.passes.iter().map(|passes| megabytes(passes[kind])).collect();
    Speeds { median: median(&each), min: each.iter().copied().fold(f64::INFINITY, f64::min) }
}

fn megabytes(pass: Pass) -> f64 {
    number(pass.bytes) / 1e6 / pass.seconds
}

fn number(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::NAN, f64::from)
}

fn speed(comparison: &Comparison<'_>, kind: usize, name: &str) -> Row {
    let Comparison { encoding, lcp, peer, oracle } = comparison;
    let is_goal = peer.engine == Engine::Fastokens && name == "code";
    let is_floor = matches!(peer.engine, Engine::Toktok | Engine::Tiktoken) && name == "code";
    let mark = match (is_goal, is_floor) {
        (true, _) => " (goal)",
        (_, true) => " (floor)",
        _ => "",
    };
    let (own, others) = (speeds(lcp, kind), speeds(peer, kind));
    let row = Row::named(format!("{encoding}, {name}{mark}"), Better::Higher, "MB/s")
        .figures(own.median, peer.name(), others.median)
        .worst(own.min, others.min)
        .notes(difference(peer, oracle, kind));
    if is_goal || is_floor { row.wants(Wanted::RatioAtLeast(1.0)) } else { row }
}

/// What is wrong with a peer's count.
fn difference(peer: &Measured, oracle: &Measured, kind: usize) -> Option<String> {
    let count = |measured: &Measured| measured.passes.first().map(|passes| passes[kind].tokens);
    let (found, right) = (count(peer)?, count(oracle)?);
    let (sign, by) = if found > right { ('+', found - right) } else { ('-', right - found) };
    (by > 0).then(|| format!("inexact: {sign}{by} of {right} tokens"))
}

fn start(encoding: Encoding, lcp: &Measured, peer: &Measured, is_wanted: bool) -> Vec<Row> {
    let figure = |measured: &Measured, of: &dyn Fn(&Start) -> Option<f64>| {
        let each: Option<Vec<f64>> = measured.starts.iter().map(of).collect();
        each.map(|each| median(&each))
    };
    let row = |what: &str, unit, most: Option<f64>, of: &dyn Fn(&Start) -> Option<f64>| {
        let (own, others) = (figure(lcp, of)?, figure(peer, of)?);
        let row = Row::named(format!("{encoding}, {what}"), Better::Lower, unit).figures(
            own,
            peer.name(),
            others,
        );
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

/// LCP beside itself: counting up to a limit in 10 MB, beside counting as many
/// tokens alone.
pub(super) fn of_limited(encoding: Encoding, limited: &[Limited]) -> Vec<Row> {
    let row = |limited: &Limited| {
        let what = format!("{encoding}, count_up_to {} of 10 MB", limited.limit);
        let (own, alone) = (limited.seconds * 1e3, limited.alone_seconds * 1e3);
        Row::named(what, Better::Lower, "ms")
            .beside_itself(own, "itself on so many tokens", alone)
            .wants(Wanted::RatioAtMost(2.0))
    };
    limited.iter().map(row).collect()
}

/// LCP beside itself: hard texts of 2 MB beside hard texts of 200 KB.
pub(super) fn of_growth(encoding: Encoding, growth: &[Growth]) -> Vec<Row> {
    let row = |hard: &Growth| {
        let per_byte = |seconds: f64, kilobytes: f64| seconds * 1e6 / kilobytes;
        let long = per_byte(hard.long_seconds, 200.0 * f64::from(LONG_TIMES));
        let short = per_byte(hard.short_seconds, 200.0);
        let what = format!("{encoding}, 2 MB of {}", hard.name);
        Row::named(what, Better::Lower, "ns/byte")
            .beside_itself(long, "itself at 200 KB", short)
            .wants(Wanted::RatioAtMost(3.0))
    };
    growth.iter().map(row).collect()
}
