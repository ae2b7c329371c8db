//! The harness of all benchmarks: clocks, rounds, races, and measuring processes.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;

use crate::table::{Better, Row};

/// The error of a measurement.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The result of a measurement.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// A callback that receives descriptions of the steps of a benchmark.
pub type Progress<'p> = dyn FnMut(String) + 'p;

/// The argument that starts a measuring process.
pub const WORKER: &str = "--measure";

/// Returns a function that adds a file's path to an error.
pub(crate) fn at(path: &Path) -> impl Fn(std::io::Error) -> String {
    move |error| format!("{}: {error}", path.display())
}

/// Runs a function, and returns its result and the processor time of this thread. Fails if other
/// threads used more than 5 % of that time plus 2 ms meanwhile.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> Result<(T, Duration)> {
    let start = read(ClockId::ThreadCPUTime);
    let (result, process) = process_timed(run);
    let thread = read(ClockId::ThreadCPUTime).saturating_sub(start);
    let others = process.saturating_sub(thread);
    if others > thread / 20 + Duration::from_millis(2) {
        let message = format!("other threads worked for {others:?} while the measured one did");
        return Err(format!("{message} for {thread:?}").into());
    }
    Ok((result, thread))
}

/// Runs a function, and returns its result and the processor time of all threads.
pub(crate) fn process_timed<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = read(ClockId::ProcessCPUTime);
    let result = run();
    (result, read(ClockId::ProcessCPUTime).saturating_sub(start))
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Runs a function, and returns its wall time.
pub(crate) fn wall_timed<T>(run: impl FnOnce() -> Result<T>) -> Result<Duration> {
    let start = Instant::now();
    run()?;
    Ok(start.elapsed())
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Converts a number to a figure for display.
#[expect(clippy::cast_precision_loss, reason = "figures for people, below 2^52")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// Returns the median, or NaN if there are no figures.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<_> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Returns the growth of an n log n algorithm's time from `from` to `to` elements, rounded.
pub(crate) fn n_log_n_growth(from: usize, to: usize) -> f64 {
    let steps = |count: usize| float(count as u64) * float(count as u64).log2();
    (steps(to) / steps(from)).round()
}

/// A participant in a race. `turn` repeats an operation, and returns the duration of each
/// repetition.
pub(crate) struct Contender<'c> {
    pub(crate) name: String,
    pub(crate) turn: Box<dyn FnMut(usize) -> Result<Vec<Duration>> + 'c>,
}

impl<'c> Contender<'c> {
    /// Creates a contender from an operation that measures its own time.
    pub(crate) fn new(
        name: impl Into<String>,
        mut once: impl FnMut() -> Result<Duration> + 'c,
    ) -> Self {
        let turn = move |times| (0..times).map(|_| once()).collect();
        Self { name: name.into(), turn: Box::new(turn) }
    }
}

/// Lets contenders take turns of `times` repetitions each. The first round is not counted. Each
/// round begins with another contender, because a contender may have to wait for disk writes that
/// the one before it left.
pub(crate) fn race(
    contenders: &mut [Contender<'_>],
    rounds: usize,
    times: usize,
) -> Result<Vec<Times>> {
    let count = contenders.len();
    let mut all = vec![Vec::new(); count];
    for round in 0..=rounds {
        for place in 0..count {
            let at = (round + place) % count;
            let turn = (contenders[at].turn)(times)?;
            if round > 0 {
                all[at].extend(turn);
            }
        }
    }
    Ok(all.into_iter().map(Times::new).collect())
}

/// Times in milliseconds, sorted.
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn new(times: Vec<Duration>) -> Self {
        let mut times: Vec<_> = times.into_iter().map(milliseconds).collect();
        times.sort_unstable_by(f64::total_cmp);
        Self(times)
    }

    pub(crate) fn median(&self) -> f64 {
        median(self.0.iter().copied())
    }

    /// Returns the figure that this share of all figures does not exceed.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
        let index = (float(self.0.len() as u64) * share).ceil() as usize;
        self.0.get(index.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn best(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn worst(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / float(self.0.len() as u64)
    }

    /// Returns a row that compares the medians of these times, LCP's, and of a peer's.
    pub(crate) fn row(&self, what: &str, peer_name: &str, peer: &Self) -> Row {
        let summary = |times: &Self| format!("{:.3}, {:.3}", times.best(), times.mean());
        let note = format!("best, mean: {}; peer {}", summary(self), summary(peer));
        Row::new(what, Better::Lower, "ms", self.median(), peer_name, peer.median()).notes(note)
    }
}

/// Runs a measuring process of a benchmark, and returns its parsed output.
pub(crate) fn ask<T: DeserializeOwned>(bench: &str, arguments: &[&str], path: &Path) -> Result<T> {
    let output = Command::new(std::env::current_exe()?)
        .args([bench, WORKER])
        .args(arguments)
        .arg(path)
        // Limits the libraries that would use several threads.
        .env("FASTOKENS_BPE_THREADS", "1")
        .env("RAYON_NUM_THREADS", "1")
        .output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("a measuring process failed: {}", message.trim()).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns a memory figure of this process in KiB, `VmRSS` or `VmHWM`. Returns `None` on systems
/// other than Linux.
pub(crate) fn memory_kib(name: &str) -> Option<u32> {
    memory_kib_of("self", name)
}

/// Returns a memory figure of the process with this id.
pub(crate) fn memory_kib_of(process: &str, name: &str) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}
