//! Runs datasketch's `MinHashLSH` on the same texts, with Python (`bench/peers/datasketch_lsh.py`).
//! Compares time, recall and precision, and the texts that would lose lines if all reported
//! duplicates were removed.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::Command;
use std::time::Duration;

use lcp_driver::group_thousands;
use lcp_types::Block;
use serde::Deserialize;

use super::ground_truth::{Score, Sets, lines};
use crate::harness::{Progress, Result, float, milliseconds};
use crate::programs;
use crate::table::{Better, Row, Wanted};

/// The least speed-up over datasketch.
const FASTER_MIN: f64 = 20.0;

/// The least recall, in percent of the texts that are near another one.
const RECALL_MIN: f64 = 90.0;

/// The least Jaccard index of near texts, in hundredths. It is the default of deduplication.
const NEAR_PERCENT: usize = 80;

const ROUNDS: usize = 3;

/// The approaches by which the script uses datasketch, with their titles.
const APPROACHES: [(&str, &str); 3] = [
    ("bulk", "datasketch at its best"),
    ("recall", "datasketch, more bands"),
    ("documented", "datasketch as documented"),
];

/// The output of the script.
#[derive(Deserialize)]
struct Answer {
    versions: Versions,
    #[serde(rename = "ways")]
    approaches: Vec<Approach>,
}

#[derive(Deserialize)]
struct Versions {
    datasketch: String,
    numpy: String,
}

#[derive(Deserialize)]
struct Approach {
    name: String,
    /// The number of bands, and the number of rows in each.
    bands: (usize, usize),
    /// The processor time of each round, in seconds.
    seconds: Vec<f64>,
    /// The pairs that it reports as near, the later text first.
    pairs: HashSet<(u32, u32)>,
}

/// The figures of one approach.
struct Measured {
    /// The time in milliseconds, recall and precision in percent, and the number of texts that
    /// [`lost`] counts. All are NaN if datasketch could not be run.
    figures: [f64; 4],
    note: String,
}

pub(super) fn rows(
    blocks: &[Block<'static>],
    time: Duration,
    own: &HashSet<(u32, u32)>,
    lost: f64,
    progress: &mut Progress<'_>,
) -> Vec<Row> {
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.content.text()?.as_str()).collect();
    progress("what is really near".to_owned());
    let sets = Sets::from_texts(texts.iter().copied());
    let near = sets.near_pairs(NEAR_PERCENT);
    let score = Score::new(&near, own);
    let answer = ask(&texts, progress).map_err(|error| error.to_string());
    let approaches = APPROACHES.map(|(approach, name)| {
        let measured = measured(approach, answer.as_ref(), &sets, &near);
        let unmeasured =
            |why| Measured { figures: [f64::NAN; 4], note: format!("not measured: {why}") };
        (name, measured.unwrap_or_else(unmeasured))
    });
    let figures = [
        ("time", Better::Lower, "ms", milliseconds(time)),
        ("recall", Better::Higher, "%", score.recall()),
        ("precision", Better::Higher, "%", score.precision()),
        ("lines lost with a drop", Better::Lower, "texts", lost),
    ];
    let mut rows = Vec::new();
    for (at, (what, better, unit, own)) in figures.into_iter().enumerate() {
        for (name, measured) in &approaches {
            let what = format!("{} texts, {what}", group_thousands(texts.len() as u64));
            let row = Row::new(what, better, unit, own, *name, measured.figures[at]);
            rows.push(match at {
                0 => row.wants(Wanted::RatioAtLeast(FASTER_MIN)).notes(measured.note.clone()),
                1 => row.wants(Wanted::OwnAtLeast(RECALL_MIN)).notes(score.summary()),
                2 => row,
                _ => row.wants(Wanted::OwnAtMost(0.0)),
            });
        }
    }
    rows
}

fn measured(
    approach: &str,
    answer: Result<&Answer, &String>,
    sets: &Sets,
    near: &HashSet<(u32, u32)>,
) -> Result<Measured, String> {
    let Answer { versions, approaches } = answer.map_err(Clone::clone)?;
    let approach = approaches.iter().find(|known| known.name == approach);
    let approach = approach.ok_or("the script does not know it")?;
    let (score, (bands, rows)) = (Score::new(near, &approach.pairs), approach.bands);
    let best = approach.seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let lost = lost(sets, &approach.pairs);
    Ok(Measured {
        figures: [best * 1e3, score.recall(), score.precision(), lost],
        note: format!(
            "datasketch {}, numpy {}, {bands} bands of {rows}: {}",
            versions.datasketch,
            versions.numpy,
            score.summary()
        ),
    })
}

/// Counts the texts that were reported as near, but whose lines are not all in one of the earlier
/// texts that they are near to. Removing such a text could lose a line.
fn lost(sets: &Sets, pairs: &HashSet<(u32, u32)>) -> f64 {
    let mut is_kept: HashMap<u32, bool> = HashMap::new();
    for &(text, earlier) in pairs {
        *is_kept.entry(text).or_default() |= sets.is_within(text, earlier);
    }
    float(is_kept.values().filter(|kept| !**kept).count() as u64)
}

/// Runs datasketch on these texts, and returns its output.
fn ask(texts: &[&str], progress: &mut Progress<'_>) -> Result<Answer> {
    let python = programs::python_with("datasketch", progress)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("texts.jsonl");
    let mut out = BufWriter::new(File::create(&path)?);
    for text in texts {
        let mut seen = HashSet::new();
        let set: Vec<_> = lines(text).filter(|line| seen.insert(*line)).collect();
        serde_json::to_writer(&mut out, &set)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    progress("datasketch looks for near texts".to_owned());
    let mut command = Command::new(python);
    command.arg(programs::scripts().join("datasketch_lsh.py")).arg(&path);
    let answer = programs::output(command.args([NEAR_PERCENT, ROUNDS].map(|it| it.to_string())))?;
    Ok(serde_json::from_slice(&answer)?)
}
