//! `scale`: packs of which only what is shown is read (RFC 0003). `docs/benchmarks.md`
//! tells what the rows mean.

mod generated;
mod object_store;
mod worker;

use std::path::Path;

use lcp_encoder::EncodeOptions;

use crate::clock::Spent;
use crate::error::Error;
use crate::format::corpus;
use crate::table::{Better, Report, Row, Wanted};
pub use worker::measure;
use worker::{Measured, Task};

/// Its name.
pub const NAME: &str = "scale";

/// Tokens of the texts.
const BUDGET: u32 = 5_000;

const ROUNDS: usize = 5;

/// Measures it.
///
/// # Errors
///
/// Where a pack cannot be made or read.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let folder = tempfile::tempdir().map_err(|error| Error::worker(&error))?;
    let mut rows = opening(progress)?;
    let mut each = Vec::new();
    for blocks in [10_000, 100_000, 1_000_000] {
        progress(format!("a pack of {blocks} blocks"));
        let path = folder.path().join(format!("{blocks}.lcp"));
        let size = generated::write(&path, blocks)?;
        progress(format!("{} KB", size / 1_000));
        let by_index = best(Task::Index, &path)?;
        each.push((blocks, by_index));
        if blocks == 1_000_000 {
            rows.extend(million(&path, size, by_index)?);
        }
    }
    rows.extend(flat(&each));
    rows.extend(object_store::rows(progress)?);
    Ok(Report { bench: NAME, rows })
}

/// How long it takes until what the index says can be asked for.
fn opening(progress: &mut dyn FnMut(String)) -> Result<Vec<Row>, Error> {
    progress("files, turns and tiny turns".into());
    let blocks = corpus::data()?.lcp;
    let counter = lcp_tokens::Tiktoken::new(lcp_tokens::Encoding::O200kBase);
    let costs =
        lcp_driver::IndexCosts::new(&counter).count(&blocks).into_iter().collect::<Vec<_>>();
    let pack = lcp_encoder::encode_with_costs(&blocks, EncodeOptions::default(), &[]);
    let pack = pack.map_err(|error| Error::worker(&error))?;
    let with_costs = lcp_encoder::encode_with_costs(&blocks, EncodeOptions::default(), &costs);
    let with_costs = with_costs.map_err(|error| Error::worker(&error))?;
    let mut best = [f64::MAX; 2];
    for _ in 0..ROUNDS * 4 {
        for (best, pack) in best.iter_mut().zip([&pack, &with_costs]) {
            let (trailer, spent) = Spent::on(|| lcp_decoder::PackIndex::find(pack));
            assert!(matches!(trailer, Some(Ok(_))), "as written");
            *best = best.min(spent.alone()?.as_secs_f64() * 1e3);
        }
    }
    let [alone, with_costs] = best;
    let row = |what: &str, own, beside: &str, other| {
        let what = format!("the index of {} blocks is opened{what}", blocks.len());
        let row = Row::named(what, Better::Lower, "ms").beside_itself(own, beside, other);
        row.wants(Wanted::OwnAtMost(1.0))
    };
    Ok(vec![
        row("", alone, "with counts", with_costs),
        row(", with counts", with_costs, "without", alone),
    ])
}

/// A million blocks: by the index, and without.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn million(path: &Path, size: u64, by_index: Measured) -> Result<Vec<Row>, Error> {
    let scanned = best(Task::Scan, path)?;
    assert_eq!(by_index.text, scanned.text, "both give the same text");
    let row = |what: &str, unit| Row::named(what, Better::Lower, unit);
    let note = format!(
        "{} tokens; {} blocks read; of it {:.0} ms for loading the vocabulary",
        by_index.used, by_index.read, by_index.load_milliseconds
    );
    Ok(vec![
        row("1,000,000 blocks rendered by the index", "ms")
            .figures(by_index.milliseconds, "without index", scanned.milliseconds)
            .wants(Wanted::OwnAtMost(150.0))
            .notes(Some(note)),
        row("its peak memory", "MB")
            .beside_itself(by_index.peak_bytes as f64 / 1e6, "the file", size as f64 / 1e6)
            .wants(Wanted::RatioAtMost(1.3)),
        row("1,000,000 blocks rendered without the index", "ms")
            .figures(scanned.milliseconds, "by the index", by_index.milliseconds)
            .wants(Wanted::OwnAtMost(3_000.0)),
    ])
}

/// What a block costs, the loading of the vocabulary left out.
fn flat(each: &[(u32, Measured)]) -> Option<Row> {
    let per_block = |(blocks, measured): &(u32, Measured)| {
        (measured.milliseconds - measured.load_milliseconds) * 1e6 / f64::from(*blocks)
    };
    let (first, last) = (each.first()?, each.last()?);
    let row = Row::named("a block by the index, of 1,000,000", Better::Lower, "ns");
    let row = row.beside_itself(per_block(last), "of 10,000", per_block(first));
    Some(row.wants(Wanted::RatioAtMost(1.5)))
}

/// The best of some runs, each a process of its own.
fn best(what: Task, path: &Path) -> Result<Measured, Error> {
    let mut best: Option<Measured> = None;
    for _ in 0..ROUNDS {
        let measured = worker::start(what, path)?;
        best = Some(match best {
            Some(best) if best.milliseconds <= measured.milliseconds => best,
            _ => measured,
        });
    }
    best.ok_or_else(|| Error::worker(&"nothing was measured"))
}
