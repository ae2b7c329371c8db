//! Who takes turns, and how long each time takes.

use std::time::{Duration, Instant};

use crate::error::Error;
use crate::table::{Better, Row};

/// How often each has its turn, the first of which is not counted.
const ROUNDS: usize = 31;

/// How often it does in a turn what is measured.
const EACH: usize = 20;

/// Who takes part: does something so many times, and says how long each took.
pub(super) struct Contender<'c> {
    pub(super) name: String,
    pub(super) turn: Box<dyn FnMut(usize) -> Result<Vec<Duration>, Error> + 'c>,
}

impl<'c> Contender<'c> {
    /// One who measures each time for itself.
    pub(super) fn new(
        name: impl Into<String>,
        mut once: impl FnMut() -> Result<Duration, Error> + 'c,
    ) -> Self {
        let turn = move |times| (0..times).map(|_| once()).collect();
        Self { name: name.into(), turn: Box::new(turn) }
    }
}

/// What `work` took, by the clock on the wall.
pub(super) fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Duration, Error> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

/// Lets each do it in turn, round by round; another one begins each round, for whoever
/// follows a program that left much to the disk may wait for it.
pub(super) fn race(contenders: &mut [Contender<'_>]) -> Result<Vec<Times>, Error> {
    let mut all = vec![Vec::new(); contenders.len()];
    let count = contenders.len();
    for round in 0..ROUNDS {
        for place in 0..count {
            let at = (round + place) % count;
            let turn = (contenders[at].turn)(EACH)?;
            if round > 0 {
                all[at].extend(turn);
            }
        }
    }
    Ok(all.iter().map(|times| Times::new(times)).collect())
}

/// Times in milliseconds, sorted; never none.
pub(super) struct Times(Vec<f64>);

impl Times {
    pub(super) fn new(times: &[Duration]) -> Self {
        let mut times: Vec<_> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
        times.sort_unstable_by(f64::total_cmp);
        Self(times)
    }

    pub(super) fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn best(&self) -> f64 {
        self.0.first().copied().unwrap_or(f64::NAN)
    }

    #[expect(clippy::cast_precision_loss, reason = "some hundred times")]
    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// These, LCP's, beside those of a peer: medians.
    pub(super) fn row(&self, what: &str, peer_name: &str, peer: &Self) -> Row {
        let told = |times: &Self| format!("{:.3}, {:.3}", times.best(), times.mean());
        let note = format!("best, mean: {}; peer {}", told(self), told(peer));
        Row::named(what, Better::Lower, "ms")
            .figures(self.median(), peer_name, peer.median())
            .notes(Some(note))
    }
}

/// The row of a peer that is not there.
pub(super) fn unmeasured(what: &str, own: f64, peer_name: &str, why: &str) -> Row {
    let row = Row::named(what, Better::Lower, "ms").figures(own, peer_name, f64::NAN);
    row.notes(Some(format!("not measured: {why}")))
}
