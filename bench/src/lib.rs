//! Benchmarks of LCP and its peers. Peers compile only in this workspace.
//!
//! `cargo xtask bench NAME` runs a benchmark. Each benchmark is a module of the same name, and
//! `docs/benchmarks.md` explains its rows. `cargo test` in this directory checks that LCP and the
//! reference implementation read each other's packs, and that LCP counts the same tokens as an
//! independent tokenizer.

#[cfg(feature = "peers")]
mod cache;
pub mod chart;
#[cfg(feature = "peers")]
mod continuity;
pub mod dedup;
#[cfg(feature = "peers")]
mod fill;
#[cfg(feature = "peers")]
mod format;
#[cfg(feature = "peers")]
mod gateway;
#[cfg_attr(not(feature = "peers"), allow(dead_code, reason = "benchmarks measure"))]
mod harness;
#[cfg(feature = "peers")]
mod js;
pub mod packs;
#[cfg(feature = "peers")]
mod plan;
#[cfg(feature = "peers")]
pub mod programs;
#[cfg(feature = "peers")]
mod python;
#[cfg_attr(not(feature = "peers"), allow(dead_code, reason = "benchmarks pick crates"))]
mod registry;
#[cfg_attr(not(feature = "peers"), allow(dead_code, reason = "benchmarks measure"))]
mod relevance;
pub mod results;
#[cfg(feature = "peers")]
mod scale;
pub mod table;
#[cfg(feature = "peers")]
mod tokens;
#[cfg(feature = "peers")]
mod tokens_speed;

pub use harness::{Error, Progress, Result, WORKER};

/// A function that runs a benchmark, and returns its rows.
#[cfg(feature = "peers")]
#[derive(Clone, Copy)]
pub enum Bench {
    /// Takes no arguments.
    Plain(fn(&mut Progress<'_>) -> Result<Vec<table::Row>>),
    /// Takes arguments of its own, which the text describes.
    WithArguments(fn(&[String], &mut Progress<'_>) -> Result<Vec<table::Row>>, &'static str),
}

/// The benchmarks by name.
#[cfg(feature = "peers")]
pub const BENCHES: &[(&str, Bench)] = &[
    ("cache", Bench::Plain(cache::run)),
    (continuity::NAME, Bench::Plain(continuity::run)),
    ("dedup", Bench::Plain(dedup::run)),
    ("fill", Bench::Plain(fill::run)),
    ("format", Bench::Plain(format::run)),
    (gateway::NAME, Bench::WithArguments(gateway::run, gateway::USAGE)),
    ("js", Bench::Plain(js::run)),
    ("plan", Bench::Plain(plan::run)),
    ("python", Bench::Plain(python::run)),
    (relevance::NAME, Bench::WithArguments(relevance::run, relevance::USAGE)),
    (scale::NAME, Bench::Plain(scale::run)),
    ("tokens", Bench::Plain(tokens::run)),
    (tokens_speed::NAME, Bench::Plain(tokens_speed::run)),
];

/// Measures a part of a benchmark in this process. `arguments` are those after [`WORKER`]. Returns
/// the text to print.
///
/// # Errors
///
/// Returns an error if the benchmark has no measuring processes, or if the measurement fails.
#[cfg(feature = "peers")]
pub fn measure(bench: &str, arguments: &[String]) -> Result<String> {
    match bench {
        continuity::NAME => continuity::measure(arguments),
        gateway::NAME => gateway::measure(arguments),
        scale::NAME => scale::measure(arguments),
        tokens_speed::NAME => tokens_speed::measure(arguments),
        _ => Err(format!("{bench} has no measuring process").into()),
    }
}
