//! The same texts given to datasketch: time, what is found of what is near, and
//! what would be lost where its word is taken.

use std::collections::{HashMap, HashSet};

use lcp_dedup::DedupLevel;
use lcp_driver::group_thousands;
use lcp_types::Block;

use super::ground_truth::{Score, Sets, lines};
use super::recall::Dropped;
use super::speed::{Times, milliseconds};
use super::{NEAR_PERCENT, peer};
use crate::error::Error;
use crate::table::{Better, Row, Wanted};

/// How many times as fast as datasketch.
const FASTER_MIN: f64 = 20.0;

/// Percent of the texts that are near another one.
const RECALL_MIN: f64 = 90.0;

const ROUNDS: usize = 3;

/// The ways in which `datasketch_lsh.py` uses it, and what they are called.
const WAYS: [(&str, &str); 3] = [
    ("bulk", "datasketch at its best"),
    ("recall", "datasketch, more bands"),
    ("documented", "datasketch as documented"),
];

/// What one way came to; no numbers where it could not be asked.
struct Measured {
    name: &'static str,
    milliseconds: f64,
    recall: f64,
    precision: f64,
    /// Texts that hold what is in none of those that they would give way to.
    lost: f64,
    note: String,
}

pub(super) fn rows(
    blocks: &[Block<'static>],
    times: &Times,
    progress: &mut dyn FnMut(String),
) -> Result<Vec<Row>, Error> {
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.content.text()?.as_str()).collect();
    progress("what is really near".to_owned());
    let sets = Sets::from_texts(texts.iter().copied());
    let near = sets.near_pairs(NEAR_PERCENT);
    let (own, own_lost) = own(blocks)?;
    let score = Score::new(&near, &own);
    let ways = measure(&texts, &sets, &near, progress);

    let what = |which: &str| format!("{} texts, {which}", group_thousands(texts.len() as u64));
    let mut rows = Vec::new();
    for way in &ways {
        let row = Row::named(what("time"), Better::Lower, "ms");
        let row = row.figures(milliseconds(times.find), way.name, way.milliseconds);
        rows.push(row.wants(Wanted::RatioAtLeast(FASTER_MIN)).notes(Some(way.note.clone())));
    }
    for way in &ways {
        let row = Row::named(what("recall"), Better::Higher, "%");
        let row = row.figures(score.recall(), way.name, way.recall);
        rows.push(row.wants(Wanted::OwnAtLeast(RECALL_MIN)).notes(Some(score.summary())));
    }
    for way in &ways {
        let row = Row::named(what("precision"), Better::Higher, "%");
        rows.push(row.figures(score.precision(), way.name, way.precision));
    }
    for way in &ways {
        let row = Row::named(what("lines lost with a drop"), Better::Lower, "texts");
        rows.push(row.figures(own_lost, way.name, way.lost).wants(Wanted::OwnAtMost(0.0)));
    }
    Ok(rows)
}

/// The pairs that LCP finds: one covers the other, or both stay; and how many of what it drops
/// cannot be read any more.
#[expect(clippy::cast_precision_loss, reason = "100,000 texts")]
fn own(blocks: &[Block<'static>]) -> Result<(HashSet<(u32, u32)>, f64), Error> {
    let dropped = Dropped::measure(blocks, DedupLevel::Near)?;
    // Every chunk is a file of its own: all that is covered is so for its text.
    let covered = dropped.duplicates.covered.iter().map(|(&index, covered)| (index, covered.by));
    let pairs = covered.chain(dropped.alike.iter().copied());
    let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let pair = |(index, by): (usize, usize)| (number(index.max(by)), number(index.min(by)));
    Ok((pairs.map(pair).collect(), dropped.checked.wrong.len() as f64))
}

fn measure(
    texts: &[&str],
    sets: &Sets,
    near: &HashSet<(u32, u32)>,
    progress: &mut dyn FnMut(String),
) -> Vec<Measured> {
    let distinct = texts.iter().map(|text| {
        let mut seen = HashSet::new();
        lines(text).filter(|line| seen.insert(*line)).collect()
    });
    let answer = peer::ask(distinct, NEAR_PERCENT, ROUNDS, progress);
    let of_way = |(way, name): (&str, &'static str)| {
        let unmeasured = |why: &str| Measured {
            name,
            milliseconds: f64::NAN,
            recall: f64::NAN,
            precision: f64::NAN,
            lost: f64::NAN,
            note: format!("not measured: {why}"),
        };
        let answer = match &answer {
            Ok(answer) => answer,
            Err(why) => return unmeasured(why),
        };
        let Some(way) = answer.ways.iter().find(|found| found.name == way) else {
            return unmeasured("the script does not know it");
        };
        let score = Score::new(near, &way.pairs);
        let (versions, (bands, rows)) = (&answer.versions, way.bands);
        Measured {
            name,
            milliseconds: way.best(),
            recall: score.recall(),
            precision: score.precision(),
            lost: lost(sets, &way.pairs),
            note: format!(
                "datasketch {}, numpy {}, {bands} bands of {rows}: {}",
                versions.datasketch,
                versions.numpy,
                score.summary()
            ),
        }
    };
    WAYS.into_iter().map(of_way).collect()
}

/// Of the texts that were taken for near an earlier one, those of which a line
/// stands in none of these.
#[expect(clippy::cast_precision_loss, reason = "100,000 texts")]
fn lost(sets: &Sets, pairs: &HashSet<(u32, u32)>) -> f64 {
    let mut is_kept: HashMap<u32, bool> = HashMap::new();
    for &(text, earlier) in pairs {
        *is_kept.entry(text).or_default() |= sets.is_within(text, earlier);
    }
    is_kept.values().filter(|kept| !**kept).count() as f64
}
