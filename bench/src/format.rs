//! `format`: how fast packs are read and written, beside general formats that
//! hold the same blocks.
//!
//! `docs/benchmarks.md` tells what the rows mean.

pub(crate) mod corpus;
mod lcp;
mod peers;
mod prost_model;
mod serde_model;

use std::hint::black_box;
use std::time::Duration;

use self::corpus::Data;
use self::serde_model::{Borrowed, Digest};
use crate::clock::Spent;
use crate::error::Error;
use crate::table::{Better, Report, Row, Wanted};

/// Its name.
pub const NAME: &str = "format";

/// Rounds of everybody, interleaved, of which the best counts.
const ROUNDS: usize = 25;

/// LCP beside the fastest that borrows checked text: within 1.1 times.
const BORROWED: f64 = 0.91;

/// Next to the fastest that gives owned, checked text: within 1.2 times.
const OWNED: f64 = 0.83;

/// A format with a way to write and to read the blocks.
trait Format {
    /// The crate.
    fn name(&self) -> &'static str;

    /// Whether texts can be borrowed from what is read.
    fn borrows(&self) -> bool;

    /// The blocks, encoded.
    fn encode(&self, data: &Data) -> Result<Vec<u8>, String>;

    /// Reads every block, each of its texts checked, and borrowed where that is
    /// possible.
    fn walk(&self, bytes: &[u8]) -> Result<Digest, String>;

    /// Reads every block into memory of its own, texts checked.
    fn own(&self, bytes: &[u8]) -> Result<Box<dyn Owned>, String>;

    /// Shows every block that [`Self::walk`] reads.
    fn show(&self, bytes: &[u8], see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String>;
}

/// Blocks that own what they hold.
trait Owned {
    /// Shows every one.
    fn show(&self, see: &mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String>;
}

/// What one format took: the best of all rounds.
#[derive(Clone, Copy)]
struct Times {
    encode: Duration,
    walk: Duration,
    own: Duration,
}

/// One format, what it made of the blocks, and how long that took.
struct Entry {
    format: Box<dyn Format>,
    bytes: Vec<u8>,
    best: Times,
}

/// Measures it.
///
/// # Errors
///
/// Where the sources cannot be read, a format does not give back what it was
/// given, or other threads worked meanwhile.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let data = corpus::data()?;
    progress(data.to_string());
    let expected = Digest::from_blocks(data.serde_model.iter().map(serde_model::Block::view));
    let mut own = Entry::new(Box::new(lcp::Lcp), &data, expected)?;
    let mut peers = Vec::new();
    for format in peers::all() {
        peers.push(Entry::new(format, &data, expected)?);
    }
    progress("all read the same blocks".to_owned());
    for round in 1..=ROUNDS {
        for entry in std::iter::once(&mut own).chain(&mut peers) {
            entry.round(&data, expected)?;
        }
        progress(format!("round {round} of {ROUNDS}"));
    }
    Ok(Report { bench: NAME, rows: rows(&own, &peers) })
}

impl Entry {
    /// Encodes the blocks, and proves that they are read again.
    fn new(format: Box<dyn Format>, data: &Data, expected: Digest) -> Result<Self, Error> {
        let name = format.name();
        let failed = |message| Error::Peer { name, message };
        let bytes = format.encode(data).map_err(failed)?;
        let check = |what: &str, show: &mut Show<'_>| {
            let mut left = data.serde_model.iter();
            let mut differing = 0;
            show(&mut |found| {
                let same = left.next().is_some_and(|expected| expected.view() == *found);
                differing += usize::from(!same);
            })?;
            differing += left.len();
            if differing == 0 { Ok(()) } else { Err(format!("{what}: {differing} blocks differ")) }
        };
        check("borrowed", &mut |see| format.show(&bytes, see)).map_err(failed)?;
        check("owned", &mut |see| format.own(&bytes)?.show(see)).map_err(failed)?;
        let walked = format.walk(&bytes).map_err(failed)?;
        if walked != expected {
            return Err(failed("the walk did not see all blocks".to_owned()));
        }
        let best = Times { encode: Duration::MAX, walk: Duration::MAX, own: Duration::MAX };
        Ok(Self { format, bytes, best })
    }

    fn round(&mut self, data: &Data, expected: Digest) -> Result<(), Error> {
        let Self { format, bytes, best } = self;
        let name = format.name();
        let failed = |message| Error::Peer { name, message };
        let (encoded, spent) = Spent::on(|| format.encode(black_box(data)));
        best.encode = best.encode.min(spent.alone()?);
        drop(encoded.map_err(failed)?);
        let (walked, spent) = Spent::on(|| format.walk(black_box(bytes)));
        best.walk = best.walk.min(spent.alone()?);
        assert_eq!(walked.map_err(failed)?, expected, "{name} walked the same before");
        // What is owned is freed behind the clock.
        let (owned, spent) = Spent::on(|| format.own(black_box(bytes)));
        best.own = best.own.min(spent.alone()?);
        drop(black_box(owned.map_err(failed)?));
        Ok(())
    }
}

/// What shows blocks.
type Show<'s> = dyn FnMut(&mut dyn FnMut(&Borrowed<'_>)) -> Result<(), String> + 's;

fn rows(own: &Entry, peers: &[Entry]) -> Vec<Row> {
    let row = |what: &str, of: fn(Times) -> Duration, peer: &Entry| {
        let (lcp, other) = (milliseconds(of(own.best)), milliseconds(of(peer.best)));
        Row::named(what, Better::Lower, "ms").figures(lcp, peer.format.name(), other)
    };
    let mut rows = Vec::new();
    for peer in peers {
        rows.push(match (peer.format.borrows(), peer.format.name()) {
            (true, "postcard" | "bincode") => row("walked, borrowed", |times| times.walk, peer)
                .wants(Wanted::RatioAtLeast(BORROWED)),
            (true, _) => row("walked, borrowed", |times| times.walk, peer),
            (false, "prost") => row("walked, beside owned", |times| times.walk, peer)
                .wants(Wanted::RatioAtLeast(2.0)),
            (false, "serde_json") => row("walked, beside owned", |times| times.walk, peer)
                .wants(Wanted::RatioAtLeast(9.0)),
            (false, _) => row("walked, beside owned", |times| times.walk, peer),
        });
    }
    for peer in peers {
        rows.push(
            row("read into owned", |times| times.own, peer).wants(Wanted::RatioAtLeast(OWNED)),
        );
    }
    for peer in peers {
        rows.push(row("written", |times| times.encode, peer));
    }
    for peer in peers {
        let (lcp, other) = (kibibytes(&own.bytes), kibibytes(&peer.bytes));
        let row = Row::named("size", Better::Lower, "KiB").figures(lcp, peer.format.name(), other);
        rows.push(row);
    }
    rows
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn kibibytes(bytes: &[u8]) -> f64 {
    bytes.len() as f64 / 1024.0
}
