//! The rows of `dedup`: time, growth, and dropped blocks.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Duration;

use lcp_dedup::{DedupLevel, Options, detect};
use lcp_driver::group_thousands;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator as _};
use lcp_types::{Block, Replacements};

use super::check::Checked;
use super::corpus::{Mix, corpus, real_chunks};
use super::datasketch;
use crate::harness::{Progress, Result, float, milliseconds, n_log_n_growth, timed};
use crate::table::{Better, Row, Wanted};

/// The smallest and the largest number of chunks for measuring growth, each with its number of
/// rounds.
const GROWTH: [(usize, usize); 2] = [(100_000, 5), (1_000_000, 2)];

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let (mut rows, mut drops) = (Vec::new(), Vec::new());
    for (mix, chunks, level, rounds, wanted) in [
        (Mix::Session, 100, DedupLevel::Near, 50, None),
        (Mix::Session, 10_000, DedupLevel::Overlap, 61, Some(1.5)),
        (Mix::Session, 100_000, DedupLevel::Near, 3, None),
        (Mix::Texts, 100_000, DedupLevel::Near, 5, None),
    ] {
        let what = title(chunks, level, mix);
        progress(what.clone());
        let blocks = corpus(mix, chunks);
        let times = Times::measure(&blocks, level, rounds)?;
        rows.push(times.row(&what));
        rows.push(times.share_of_hashing(&what).wants(wanted.map(Wanted::RatioAtMost)));
        let dropped = Dropped::measure(&blocks, level)?;
        drops.push(dropped.row(&what));
        if mix == Mix::Texts {
            let lost = float(dropped.checked.wrong.len() as u64);
            let (time, pairs) = (times.find, dropped.pairs());
            rows.extend(datasketch::rows(&blocks, time, &pairs, lost, progress));
        }
    }
    for (mix, level) in [(Mix::Texts, DedupLevel::Near), (Mix::Session, DedupLevel::Overlap)] {
        rows.push(growth(mix, level, progress)?);
    }
    progress("sources of the registry".to_owned());
    let blocks = real_chunks(1)?;
    let what = format!("real code, {} chunks", group_thousands(blocks.len() as u64));
    rows.push(Times::measure(&blocks, DedupLevel::Near, 3)?.row(&what));
    drops.push(Dropped::measure(&blocks, DedupLevel::Near)?.row(&what));
    rows.extend(drops);
    Ok(rows)
}

/// Returns the title of a measurement.
fn title(chunks: usize, level: DedupLevel, mix: Mix) -> String {
    let relations = match (level, mix) {
        (DedupLevel::Near, Mix::Session) => "all relations",
        (DedupLevel::Near, Mix::Texts) => "exact and near",
        (DedupLevel::Overlap, _) => "exact and overlap",
        (DedupLevel::Exact, _) => "exact",
    };
    format!("{} chunks, {relations}", group_thousands(chunks as u64))
}

/// The best times of several rounds.
struct Times {
    /// The time to detect duplicates.
    find: Duration,
    /// The time to detect duplicates, create the new texts, and count the saved tokens.
    apply: Duration,
    /// The time to hash the contents once with BLAKE3.
    hash: Duration,
}

impl Times {
    fn measure(blocks: &[Block<'_>], level: DedupLevel, rounds: usize) -> Result<Self> {
        let (options, estimator) = (Options::new(level), Tiktoken::new(Encoding::O200kBase));
        // Loads the vocabulary in advance, because loading uses two threads.
        estimator.estimate("\n");
        let mut best = Self { find: Duration::MAX, apply: Duration::MAX, hash: Duration::MAX };
        for _ in 0..rounds {
            let (detected, find) = timed(|| detect(blocks, &options, &estimator))?;
            let detected = detected?;
            best.find = best.find.min(find);
            let (result, apply) = timed(|| detected.apply(blocks, &estimator))?;
            best.apply = best.apply.min(find + apply);
            drop(result);
            best.hash = best.hash.min(timed(|| hash_all(blocks))?.1);
        }
        Ok(best)
    }

    /// Returns the row that compares detection with the least that it needs: each byte read once.
    fn share_of_hashing(&self, what: &str) -> Row {
        let (find, hash) = (milliseconds(self.find), milliseconds(self.hash));
        Row::with_itself(what, "ms", find, "hashing their bytes (BLAKE3)", hash)
    }

    fn row(&self, what: &str) -> Row {
        let (find, apply) = (milliseconds(self.find), milliseconds(self.apply));
        Row::with_itself(what, "ms", find, "with new texts", apply)
    }
}

/// Hashes the content of each block.
fn hash_all(blocks: &[Block<'_>]) {
    for block in blocks {
        if let Some(text) = block.content.text() {
            std::hint::black_box(blake3::hash(text.as_slice()));
        }
    }
}

/// Compares the time for the most chunks with that for the fewest. It may grow like n log n at
/// most.
fn growth(mix: Mix, level: DedupLevel, progress: &mut Progress<'_>) -> Result<Row> {
    let [(few, _), (many, _)] = GROWTH;
    let mut times = Vec::new();
    for (chunks, rounds) in GROWTH {
        progress(format!("{}, growth", title(chunks, level, mix)));
        times.push(milliseconds(Times::measure(&corpus(mix, chunks), level, rounds)?.find));
    }
    let what = format!("{}, growth", title(many, level, mix));
    let base = format!("{} chunks", group_thousands(few as u64));
    Ok(Row::with_itself(what, "ms", times[1], base, times[0])
        .wants(Wanted::RatioAtMost(n_log_n_growth(few, many))))
}

/// The blocks dropped from a pack, and a check that their contents can still be read.
struct Dropped {
    duplicates: Replacements,
    /// Pairs of near blocks that both remain.
    alike: Vec<(usize, usize)>,
    checked: Checked,
}

impl Dropped {
    fn measure(blocks: &[Block<'static>], level: DedupLevel) -> Result<Self> {
        let estimator = Tiktoken::new(Encoding::O200kBase);
        let detected = detect(blocks, &Options::new(level), &estimator)?;
        let result = detected.apply(blocks, &estimator);
        let after = result.blocks_with_stubs(blocks.to_vec());
        let checked = Checked::new(blocks, &after, &result.duplicates);
        Ok(Self { duplicates: result.duplicates, alike: detected.near_unreplaced, checked })
    }

    /// Returns the near pairs that LCP finds, the later text first. Either one block covers the
    /// other, or both remain.
    fn pairs(&self) -> HashSet<(u32, u32)> {
        // Every chunk is a separate file, so only its text can make it covered.
        let covered = self.duplicates.covered.iter().map(|(&index, covered)| (index, covered.by));
        let pairs = covered.chain(self.alike.iter().copied());
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        pairs.map(|(one, other)| (number(one.max(other)), number(one.min(other)))).collect()
    }

    /// Returns the row that counts the removed or replaced blocks whose contents cannot be read any
    /// more.
    fn row(&self, what: &str) -> Row {
        let mut note = self.checked.summary();
        for (index, why) in self.checked.wrong.iter().take(3) {
            _ = write!(note, "; block {index}: {why}");
        }
        let (wrong, all) = (self.checked.wrong.len() as u64, self.checked.all() as u64);
        let what = format!("{what}, false drops");
        Row::new(what, Better::Lower, "blocks", float(wrong), "all drops", float(all))
            .wants(Wanted::OwnAtMost(0.0))
            .notes(note)
    }
}
