//! The law of the parser: the same stream gives the same blocks, warnings and
//! error, however it is cut.

use lcp_decoder::{DecodeOptions, Error, Event, EventIter, Parser, blocks};
use lcp_testkit::SplitMix64;
use lcp_types::Block;

/// One thing that a walk through a pack comes upon.
#[derive(Debug, PartialEq)]
pub(crate) enum Seen {
    Event(Event<'static>),
    /// What [`Event::Frame`] before it holds.
    Block(Result<Block<'static>, Error>),
    /// What ended the walk, if it was not [`Event::Done`].
    Error(Error),
}

/// Where a pack is cut.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cuts {
    /// Into single bytes.
    EveryByte,
    /// Into pieces of this many bytes.
    Every(usize),
    /// At up to a dozen places, the same one twice included.
    Seeded(u64),
}

impl Cuts {
    pub(crate) fn pieces(self, pack: &[u8]) -> Vec<&[u8]> {
        let mut places: Vec<usize> = match self {
            Self::EveryByte => (1..pack.len()).collect(),
            Self::Every(len) => (len..pack.len()).step_by(len).collect(),
            Self::Seeded(seed) => {
                let mut rng = SplitMix64::new(seed);
                let count = rng.below(13);
                (0..count).map(|_| rng.below(pack.len() + 1)).collect()
            }
        };
        places.extend([0, pack.len()]);
        places.sort_unstable();
        places.windows(2).map(|ends| &pack[ends[0]..ends[1]]).collect()
    }
}

/// All of a pack that is in memory.
pub(crate) fn decode_at_once(pack: &[u8], options: DecodeOptions<'_>) -> Vec<Seen> {
    let mut events = EventIter::new(pack, options);
    let mut seen = Vec::new();
    while let Some(event) = events.next() {
        match event {
            Ok(Event::Frame(frame)) => {
                let block = events.decode(frame.clone()).map(Block::into_owned);
                let once = EventIter::new(pack, options).decode(frame.clone().into_owned());
                if let (Ok(block), Ok(once)) = (&block, once) {
                    assert!(*block == once, "{frame:?}");
                }
                seen.push(Seen::Event(Event::Frame(frame.into_owned())));
                seen.push(Seen::Block(block));
            }
            Ok(event) => seen.push(Seen::Event(event.into_owned())),
            Err(error) => seen.push(Seen::Error(error)),
        }
    }
    seen
}

/// The same pack, piece by piece. `eof_apart`: the end of the input is told
/// after the last piece, not with it.
pub(crate) fn incremental(
    pack: &[u8],
    options: DecodeOptions<'_>,
    cuts: Cuts,
    eof_apart: bool,
) -> Vec<Seen> {
    let mut pieces = cuts.pieces(pack);
    if eof_apart {
        pieces.push(&[]);
    }
    let mut parser = Parser::new(options);
    let mut seen = Vec::new();
    let mut data = Vec::new();
    // The first length at which something may be found.
    let mut enough = 0;
    for (i, piece) in pieces.iter().enumerate() {
        data.extend_from_slice(piece);
        let eof = i + 1 == pieces.len();
        loop {
            let step = match parser.parse(&data, eof) {
                Ok(step) => step,
                Err(error) => {
                    let again = parser.parse(b"anything", false);
                    assert_eq!(again, Err(error.clone()), "the error is final");
                    seen.push(Seen::Error(error));
                    return seen;
                }
            };
            let consumed = step.consumed;
            let is_hinted = step.event.is_none() || data.len() as u64 >= enough || eof;
            assert!(is_hinted, "{:?} in {} of {enough} bytes", step.event, data.len());
            match step.event {
                Some(Event::Frame(frame)) => {
                    let block = parser.decode(frame.clone()).map(Block::into_owned);
                    seen.push(Seen::Event(Event::Frame(frame.into_owned())));
                    seen.push(Seen::Block(block));
                }
                Some(Event::Done) => {
                    assert!(eof, "nothing is done before the end of the input");
                    seen.push(Seen::Event(Event::Done));
                    return seen;
                }
                Some(event) => seen.push(Seen::Event(event.into_owned())),
                None => {
                    assert!(!eof, "there is no more data to ask for");
                    data.drain(..consumed);
                    enough = parser.bytes_needed().saturating_add(data.len() as u64);
                    break;
                }
            }
            data.drain(..consumed);
            enough = 0;
        }
    }
    unreachable!("the last piece ends in an error or with `Done`")
}

/// Fails if a pack is not the same in pieces as it is whole.
#[track_caller]
pub(crate) fn assert_same_however_cut(pack: &[u8], options: DecodeOptions<'_>, cuts: Cuts) {
    let expected = decode_at_once(pack, options);
    for eof_apart in [false, true] {
        let found = incremental(pack, options, cuts, eof_apart);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "event {i}, cut {cuts:?}, eof apart: {eof_apart}");
        }
        assert_eq!(found.len(), expected.len(), "events, cut {cuts:?}, eof apart: {eof_apart}");
    }
    assert_blocks_are(pack, options, &expected);
}

/// Fails if [`blocks`] does not show what the walk has seen: the same blocks
/// up to the first error of any kind.
#[track_caller]
fn assert_blocks_are(pack: &[u8], options: DecodeOptions<'_>, seen: &[Seen]) {
    let mut iter = blocks(pack, options);
    let mut warnings = Vec::new();
    for seen in seen {
        match seen {
            Seen::Block(Ok(block)) => assert_eq!(iter.next().as_ref(), Some(&Ok(block.clone()))),
            Seen::Block(Err(error)) | Seen::Error(error) => {
                assert_eq!(iter.next(), Some(Err(error.clone())));
                break;
            }
            Seen::Event(Event::Warning(warning)) => warnings.push(warning.clone()),
            Seen::Event(_) => {}
        }
    }
    assert_eq!(iter.next(), None, "nothing comes after the end or an error");
    assert_eq!(iter.warnings(), warnings);
}
