//! The rows, in their order.

use lcp_dedup::DedupLevel;

use super::corpus::{Mix, corpus};
use super::recall::Dropped;
use super::speed::{self, Times};
use super::{datasketch, real};
use crate::error::Error;
use crate::table::{Report, Wanted};

/// Its name.
pub const NAME: &str = "dedup";

/// Measures it.
///
/// # Errors
///
/// Where the sources cannot be read, or other threads worked meanwhile.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let (mut rows, mut lost) = (Vec::new(), Vec::new());
    for (mix, chunks, level, rounds, wanted) in [
        (Mix::Session, 100, DedupLevel::Near, 50, Some(1.0)),
        (Mix::Session, 10_000, DedupLevel::Overlap, 11, Some(5.0)),
        (Mix::Session, 100_000, DedupLevel::Near, 3, None),
    ] {
        let what = speed::title(chunks, level, mix);
        progress(what.clone());
        let blocks = corpus(mix, chunks);
        let row = Times::measure(&blocks, level, rounds)?.row(&what);
        rows.push(match wanted {
            Some(most) => row.wants(Wanted::OwnAtMost(most)),
            None => row,
        });
        lost.push(Dropped::measure(&blocks, level)?.row(&what));
    }

    let what = speed::title(100_000, DedupLevel::Near, Mix::Texts);
    progress(what.clone());
    let texts = corpus(Mix::Texts, 100_000);
    let times = Times::measure(&texts, DedupLevel::Near, 5)?;
    rows.push(times.row(&what).wants(Wanted::OwnAtMost(1_000.0)));
    lost.push(Dropped::measure(&texts, DedupLevel::Near)?.row(&what));
    rows.extend(datasketch::rows(&texts, &times, progress)?);
    drop(texts);

    rows.extend(speed::growth(
        &[(Mix::Texts, DedupLevel::Near), (Mix::Session, DedupLevel::Overlap)],
        progress,
    )?);

    progress("sources of the registry".to_owned());
    let blocks = real::chunks(1)?;
    let what = format!("real code, {} chunks", lcp_driver::group_thousands(blocks.len() as u64));
    rows.push(Times::measure(&blocks, DedupLevel::Near, 3)?.row(&what));
    lost.push(Dropped::measure(&blocks, DedupLevel::Near)?.row(&what));
    rows.extend(lost);
    Ok(Report { bench: NAME, rows })
}
