//! `scale`: packs of which only what is shown is read (RFC 0003).

mod generated;
mod object_store;
mod worker;

use std::path::Path;

use lcp_encoder::EncodeOptions;

use crate::format::corpus;
use crate::harness::{Progress, Result, ask, float, milliseconds, timed};
use crate::table::{Better, Row, Wanted};
pub(crate) use worker::measure;
use worker::{INDEX, Measured, SCAN};

/// Its name.
pub(crate) const NAME: &str = "scale";

const ROUNDS: usize = 5;

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let mut rows = opening(progress)?;
    let mut each = Vec::new();
    for blocks in [10_000, 100_000, 1_000_000] {
        progress(format!("a pack of {blocks} blocks"));
        let path = folder.path().join(format!("{blocks}.lcp"));
        let size = generated::write(&path, blocks)?;
        progress(format!("{} KB", size / 1_000));
        let by_index = best(INDEX, &path)?;
        each.push((blocks, by_index));
        if blocks == 1_000_000 {
            rows.extend(million(&path, size, by_index)?);
        }
    }
    rows.extend(flat(&each));
    rows.extend(object_store::rows(progress)?);
    Ok(rows)
}

/// Returns how long it takes to open the index.
fn opening(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress("files, turns and tiny turns".into());
    let blocks = corpus::blocks()?;
    let counter = lcp_tokens::Tiktoken::new(lcp_tokens::Encoding::O200kBase);
    let costs: Vec<_> = lcp_driver::IndexCosts::new(&counter).count(&blocks).into_iter().collect();
    let encode = |costs| lcp_encoder::encode_with_costs(&blocks, EncodeOptions::default(), costs);
    let (pack, with_costs) = (encode(&[])?, encode(&costs)?);
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS * 4 {
        for (best, pack) in best.iter_mut().zip([&pack, &with_costs]) {
            let (index, time) = timed(|| lcp_decoder::PackIndex::find(pack))?;
            assert!(matches!(index, Some(Ok(_))), "as written");
            *best = best.min(milliseconds(time));
        }
    }
    let [alone, with_costs] = best;
    let row = |what: &str, own, other_name: &str, other| {
        let what = format!("the index of {} blocks is opened{what}", blocks.len());
        Row::with_itself(what, "ms", own, other_name, other).wants(Wanted::OwnAtMost(1.0))
    };
    Ok(vec![
        row("", alone, "with counts", with_costs),
        row(", with counts", with_costs, "without", alone),
    ])
}

/// Renders a million blocks by the index, and without.
fn million(path: &Path, size: u64, by_index: Measured) -> Result<Vec<Row>> {
    let scanned = best(SCAN, path)?;
    assert_eq!(by_index.text, scanned.text, "both give the same text");
    let row = |what: &str, own: Measured, peer: &str, other: Measured| {
        Row::new(what, Better::Lower, "ms", own.milliseconds, peer, other.milliseconds)
    };
    let note = format!(
        "{} tokens; {} blocks read; of it {:.0} ms for loading the vocabulary",
        by_index.used, by_index.read, by_index.load_milliseconds
    );
    let peak = float(by_index.peak_bytes) / 1e6;
    Ok(vec![
        row("1,000,000 blocks rendered by the index", by_index, "without index", scanned)
            .wants(Wanted::OwnAtMost(150.0))
            .notes(Some(note)),
        Row::with_itself("its peak memory", "MB", peak, "the file", float(size) / 1e6)
            .wants(Wanted::RatioAtMost(1.3)),
        row("1,000,000 blocks rendered without the index", scanned, "by the index", by_index)
            .wants(Wanted::OwnAtMost(3_000.0)),
    ])
}

/// Returns what a block costs, without the loading of the vocabulary.
fn flat(each: &[(u32, Measured)]) -> Option<Row> {
    let per_block = |(blocks, measured): &(u32, Measured)| {
        (measured.milliseconds - measured.load_milliseconds) * 1e6 / f64::from(*blocks)
    };
    let (first, last) = (per_block(each.first()?), per_block(each.last()?));
    let row =
        Row::with_itself("a block by the index, of 1,000,000", "ns", last, "of 10,000", first);
    Some(row.wants(Wanted::RatioAtMost(1.5)))
}

/// Returns the best of some runs, each a process of its own.
fn best(task: &str, path: &Path) -> Result<Measured> {
    let mut best: Measured = ask(NAME, &[task], path)?;
    for _ in 1..ROUNDS {
        let measured: Measured = ask(NAME, &[task], path)?;
        if measured.milliseconds < best.milliseconds {
            best = measured;
        }
    }
    Ok(best)
}
