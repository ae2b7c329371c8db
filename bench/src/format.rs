//! `format`: the speed of reading and writing packs, compared with general-purpose formats that
//! hold the same blocks.

pub(crate) mod corpus;
mod formats;
mod prost_model;
mod serde_model;

use std::hint::black_box;
use std::time::Duration;

use lcp_types::CowBytes;

use self::corpus::Data;
use self::formats::{Format, Show};
use self::serde_model::{Block, Digest};
use crate::harness::{Error, Progress, Result, float, milliseconds, timed};
use crate::table::{Better, Row, Wanted};

/// The number of rounds. Formats take turns, and the best time of each is used.
const ROUNDS: usize = 25;

/// The least ratios: to formats that borrow checked text, to formats that return owned, checked
/// text, and to the fastest writers.
const BORROWED: f64 = 0.95;
const OWNED: f64 = 0.9;
const WRITTEN: f64 = 0.8;

/// One format, its bytes, and the best times of all rounds.
struct Entry {
    format: Format,
    bytes: Vec<u8>,
    encode: Duration,
    walk: Duration,
    own: Duration,
}

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let data = Data::new()?;
    let text = data.lcp.iter().filter_map(|block| block.content.text());
    let kib = text.map(CowBytes::len).sum::<usize>() / 1024;
    progress(format!("{} blocks, {kib} KiB of text", data.lcp.len()));
    let expected = Digest::from_blocks(data.serde_model.iter().map(Block::view));
    let mut entries = Vec::new();
    for format in formats::all() {
        let name = format.name;
        let entry = Entry::new(format, &data, expected);
        entries.push(entry.map_err(|error| unusable(name, &error))?);
    }
    progress("all read the same blocks".to_owned());
    for round in 1..=ROUNDS {
        for entry in &mut entries {
            entry.round(&data, expected).map_err(|error| unusable(entry.format.name, &error))?;
        }
        progress(format!("round {round} of {ROUNDS}"));
    }
    Ok(rows(&entries))
}

fn unusable(name: &str, error: &Error) -> String {
    format!("{name} is of no use here: {error}")
}

impl Entry {
    /// Encodes the blocks, and checks that they decode to the same blocks.
    fn new(format: Format, data: &Data, expected: Digest) -> Result<Self> {
        let bytes = (format.encode)(data)?;
        let check = |what: &str, show: Show| -> Result<()> {
            let mut left = data.serde_model.iter();
            let mut differing = 0;
            show(&bytes, &mut |read| {
                let same = left.next().is_some_and(|expected| expected.view() == *read);
                differing += usize::from(!same);
            })?;
            differing += left.len();
            if differing > 0 {
                return Err(format!("{what}: {differing} blocks differ").into());
            }
            Ok(())
        };
        check("borrowed", format.show)?;
        check("owned", format.show_owned)?;
        if (format.walk)(&bytes)? != expected {
            return Err("the walk did not see all blocks".into());
        }
        let [encode, walk, own] = [Duration::MAX; 3];
        Ok(Self { format, bytes, encode, walk, own })
    }

    fn round(&mut self, data: &Data, expected: Digest) -> Result<()> {
        let Self { format, bytes, .. } = self;
        let (encoded, time) = timed(|| (format.encode)(black_box(data)))?;
        self.encode = self.encode.min(time);
        drop(encoded?);
        let (walked, time) = timed(|| (format.walk)(black_box(bytes)))?;
        self.walk = self.walk.min(time);
        assert_eq!(walked?, expected, "{} walked the same before", format.name);
        // Owned blocks are freed after the time is taken.
        let (owned, time) = timed(|| (format.own)(black_box(bytes)))?;
        self.own = self.own.min(time);
        drop(black_box(owned?));
        Ok(())
    }
}

/// Returns the rows that compare LCP, the first entry, with each of the others.
fn rows(entries: &[Entry]) -> Vec<Row> {
    let Some((own, peers)) = entries.split_first() else { return Vec::new() };
    let rows = |what: fn(&Entry) -> &str, unit, figure: fn(&Entry) -> f64| {
        let row = move |peer: &Entry| {
            Row::new(what(peer), Better::Lower, unit, figure(own), peer.format.name, figure(peer))
        };
        peers.iter().map(row)
    };
    let walked = |peer: &Entry| {
        if peer.format.borrows { "iterated, borrowed" } else { "iterated, peer owned" }
    };
    let walks = rows(walked, "ms", |entry| milliseconds(entry.walk));
    let walks = walks.zip(peers).map(|(row, peer)| match peer.format.name {
        "postcard" | "bincode" => row.wants(Wanted::RatioAtLeast(BORROWED)),
        "prost" => row.wants(Wanted::RatioAtLeast(2.0)),
        "serde_json" => row.wants(Wanted::RatioAtLeast(9.0)),
        _ => row,
    });
    let owned = rows(|_| "read into owned", "ms", |entry| milliseconds(entry.own))
        .map(|row| row.wants(Wanted::RatioAtLeast(OWNED)));
    let written = rows(|_| "written", "ms", |entry| milliseconds(entry.encode));
    let written = written.zip(peers).map(|(row, peer)| match peer.format.name {
        "bincode" | "prost" => row.wants(Wanted::RatioAtLeast(WRITTEN)),
        _ => row,
    });
    let sizes = rows(|_| "size", "KiB", |entry| float(entry.bytes.len() as u64) / 1024.0);
    walks.chain(owned).chain(written).chain(sizes).collect()
}
