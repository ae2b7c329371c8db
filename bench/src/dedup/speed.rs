//! How long it takes to find duplicates, and how that grows.

use std::time::Duration;

use lcp_dedup::{DedupLevel, Options, detect};
use lcp_driver::group_thousands;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use lcp_types::Block;

use super::corpus::{Mix, corpus};
use crate::clock::Spent;
use crate::error::Error;
use crate::table::{Better, Row, Wanted};

/// The chunks that growth begins and ends with, and the rounds of each.
const GROWTH: [(usize, usize); 2] = [(100_000, 5), (1_000_000, 2)];

/// What is measured, in words.
pub(super) fn title(chunks: usize, level: DedupLevel, mix: Mix) -> String {
    let relations = match (level, mix) {
        (DedupLevel::Near, Mix::Session) => "all relations",
        (DedupLevel::Near, Mix::Texts) => "exact and near",
        (DedupLevel::Overlap, _) => "exact and overlap",
        (DedupLevel::Exact, _) => "exact",
    };
    format!("{} chunks, {relations}", group_thousands(chunks as u64))
}

/// The best of some rounds.
pub(super) struct Times {
    /// To find what covers what.
    pub(super) find: Duration,
    /// And to make the new texts, and count what that saves.
    whole: Duration,
}

impl Times {
    pub(super) fn measure(
        blocks: &[Block<'_>],
        level: DedupLevel,
        rounds: usize,
    ) -> Result<Self, Error> {
        let (options, estimator) = (Options::new(level), Tiktoken::new(Encoding::O200kBase));
        // The vocabulary is loaded on two threads, once.
        estimator.estimate("\n");
        let mut best = Self { find: Duration::MAX, whole: Duration::MAX };
        for _ in 0..rounds {
            let (found, spent) = Spent::on(|| detect(blocks, &options, &estimator));
            let (found, spent) = (found?, spent.alone()?);
            best.find = best.find.min(spent);
            let (result, more) = Spent::on(|| found.apply(blocks, &estimator));
            best.whole = best.whole.min(spent + more.alone()?);
            drop(result);
        }
        Ok(best)
    }

    pub(super) fn row(&self, what: &str) -> Row {
        Row::named(what, Better::Lower, "ms").beside_itself(
            milliseconds(self.find),
            "with what it saves",
            milliseconds(self.whole),
        )
    }
}

/// The time for the most chunks beside that for the fewest: no more than n log n
/// has grown.
#[expect(clippy::cast_precision_loss, reason = "a million chunks")]
pub(super) fn growth(
    of: &[(Mix, DedupLevel)],
    progress: &mut dyn FnMut(String),
) -> Result<Vec<Row>, Error> {
    let [(few, _), (many, _)] = GROWTH;
    let steps = |chunks: usize| chunks as f64 * (chunks as f64).log2();
    let mut rows = Vec::new();
    for &(mix, level) in of {
        let mut times = Vec::new();
        for (chunks, rounds) in GROWTH {
            progress(format!("{}, growth", title(chunks, level, mix)));
            times.push(Times::measure(&corpus(mix, chunks), level, rounds)?.find);
        }
        rows.push(
            Row::named(format!("{}, growth", title(many, level, mix)), Better::Lower, "ms")
                .beside_itself(
                    milliseconds(times[1]),
                    format!("{} chunks", group_thousands(few as u64)),
                    milliseconds(times[0]),
                )
                .wants(Wanted::RatioAtMost((steps(many) / steps(few)).round())),
        );
    }
    Ok(rows)
}

pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
