//! Packs that are read: the same as in memory, whatever pieces the reader gives.

#[cfg(feature = "tokio")]
mod async_reader;
mod memory;

use std::io::{self, ErrorKind, Read};

use lcp_decoder::{DecodeOptions, Event, StreamDecoder, StreamError};
use lcp_testkit::{SplitMix64, any_pack};
use lcp_types::{Block, Lang, Role};
use proptest::prelude::*;

use crate::laws::{COMPRESSIONS, encode};
use crate::support::{frame, hi, pack};
use crate::walk::{Cuts, Seen, decode_at_once};

/// Gives one piece at a read, and is interrupted before some.
pub(crate) struct Pieces<'p> {
    pieces: Vec<&'p [u8]>,
    interrupted: bool,
}

impl<'p> Pieces<'p> {
    pub(crate) fn new(pack: &'p [u8], cuts: Cuts) -> Self {
        // An empty piece would be the end of the input.
        let mut pieces = cuts.pieces(pack);
        pieces.retain(|piece| !piece.is_empty());
        pieces.reverse();
        Self { pieces, interrupted: false }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        assert!(!space.is_empty(), "there is always space");
        self.interrupted = !self.interrupted && self.pieces.len() % 3 == 1;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        let Some(piece) = self.pieces.last_mut() else { return Ok(0) };
        let count = piece.read(space)?;
        if piece.is_empty() {
            self.pieces.pop();
        }
        Ok(count)
    }
}

/// All of a pack that is read.
fn streamed(reader: impl Read, options: DecodeOptions<'_>) -> Vec<Seen> {
    let mut stream = StreamDecoder::new(reader, options);
    let mut seen = Vec::new();
    loop {
        match stream.next_event() {
            Ok(Some(Event::Frame(frame))) => {
                let block = stream.decode(frame.clone());
                seen.push(Seen::Event(Event::Frame(frame)));
                seen.push(Seen::Block(block));
            }
            Ok(Some(event)) => seen.push(Seen::Event(event)),
            Ok(None) => return seen,
            Err(StreamError::Decode(error)) => {
                seen.push(Seen::Error(error));
                return seen;
            }
            Err(error) => panic!("the reader does not fail: {error}"),
        }
    }
}

/// Checks blocks, warnings and the error against those of the walk.
pub(crate) struct Expected<'a> {
    pub(crate) blocks: Vec<&'a Block<'static>>,
    pub(crate) error: Option<&'a lcp_decoder::Error>,
}

impl<'a> Expected<'a> {
    /// What comes up to the first error of any kind.
    pub(crate) fn new(seen: &'a [Seen]) -> Self {
        let mut blocks = Vec::new();
        for seen in seen {
            match seen {
                Seen::Block(Ok(block)) => blocks.push(block),
                Seen::Block(Err(error)) | Seen::Error(error) => {
                    return Self { blocks, error: Some(error) };
                }
                Seen::Event(_) => {}
            }
        }
        Self { blocks, error: None }
    }
}

/// Fails if a pack is not the same read as it is in memory.
#[track_caller]
pub(crate) fn assert_same_when_read(pack: &[u8], options: DecodeOptions<'_>, cuts: Cuts) {
    let seen = decode_at_once(pack, options);
    assert_eq!(streamed(Pieces::new(pack, cuts), options), seen, "events, cut {cuts:?}");
    let expected = Expected::new(&seen);
    let mut stream = StreamDecoder::new(Pieces::new(pack, cuts), options);
    for block in expected.blocks {
        let found = stream.next_block().expect("not the first error yet");
        assert_eq!(found.as_ref(), Some(block));
    }
    // The end and the error are told as often as one asks.
    for _ in 0..2 {
        match (stream.next_block(), expected.error) {
            (Ok(None), None) => {}
            (Err(StreamError::Decode(found)), Some(error)) => assert_eq!(found, *error),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }
    let mut blocks = lcp_decoder::blocks(pack, options);
    while blocks.next().is_some() {}
    assert_eq!(stream.header(), blocks.header());
    assert_eq!(stream.warnings(), blocks.warnings());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn stream_matches_decode_on_any_pack(blocks in any_pack(), seed in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        for compression in COMPRESSIONS {
            let pack = encode(&blocks, compression);
            let mut changed = pack.clone();
            let place = rng.below(pack.len());
            changed[place] = rng.bytes(1)[0];
            changed.truncate(1 + rng.below(pack.len()));
            let every = if pack.len() < 8_000 { Cuts::EveryByte } else { Cuts::Every(97) };
            for cuts in [every, Cuts::Seeded(seed), Cuts::Every(pack.len())] {
                assert_same_when_read(&pack, DecodeOptions::default(), cuts);
                assert_same_when_read(&changed, DecodeOptions::default(), cuts);
            }
        }
    }
}

/// Blocks around the sizes at which the buffer grows and moves.
#[test]
fn blocks_near_the_buffer_size_decode() {
    const CHUNK: usize = 64 * 1024;
    let mut rng = SplitMix64::new(3);
    let sizes = [CHUNK - 8, CHUNK - 25, 1, CHUNK, 2 * CHUNK - 30, 5, CHUNK + 1, 3 * CHUNK, 40];
    let blocks = sizes.map(|len| Block::code(Lang::Unknown, "p", rng.bytes(len)));
    for compression in COMPRESSIONS {
        let pack = encode(&blocks, compression);
        for cuts in
            [Cuts::Every(1000), Cuts::Every(CHUNK), Cuts::Seeded(1), Cuts::Every(pack.len())]
        {
            assert_same_when_read(&pack, DecodeOptions::default(), cuts);
        }
    }
}

/// Fails once when so many bytes were read.
struct Failing<'p> {
    pack: &'p [u8],
    left: usize,
    failed: bool,
}

impl Read for Failing<'_> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.failed {
            self.failed = true;
            return Err(io::Error::new(ErrorKind::TimedOut, "no answer"));
        }
        let most = if self.failed { space.len() } else { self.left.min(space.len()) };
        let count = self.pack.read(&mut space[..most])?;
        self.left -= if self.failed { 0 } else { count };
        Ok(count)
    }
}

#[test]
fn read_error_loses_no_blocks() {
    let bytes = pack(&[hi(), hi()]);
    let hi = Block::conversation(Role::User, "hi");
    for at in 0..=bytes.len() {
        let failing = || Failing { pack: &bytes, left: at, failed: false };
        let mut stream = StreamDecoder::new(failing(), DecodeOptions::default());
        let (mut blocks, mut errors) = (Vec::new(), Vec::new());
        loop {
            match stream.next_block() {
                Ok(Some(block)) => blocks.push(block),
                Ok(None) => break,
                Err(error) => errors.push(error),
            }
        }
        assert_eq!(blocks, [hi.clone(), hi.clone()]);
        let error = errors.pop().expect("it has failed");
        assert!(errors.is_empty(), "once");
        assert_eq!(error.to_string(), format!("cannot read: no answer (byte {at})"));
        assert_eq!(error.offset(), at as u64);
        assert!(
            matches!(error, StreamError::Read { source, .. } if source.kind() == ErrorKind::TimedOut)
        );
        // The iterator does not go on.
        let stream = StreamDecoder::new(failing(), DecodeOptions::default());
        let found: Vec<_> = stream.collect();
        assert_eq!(found.iter().filter(|found| found.is_err()).count(), 1);
        assert!(found.last().is_some_and(Result::is_err));
    }
}

/// A reader that says it has read more than it could.
struct Lying;

impl Read for Lying {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        Ok(space.len() + 1)
    }
}

#[test]
fn reader_with_invalid_count_is_an_error() {
    let error =
        StreamDecoder::new(Lying, DecodeOptions::default()).next_block().expect_err("a lie");
    assert!(matches!(error, StreamError::Read { offset: 0, .. }));
}

/// One can go on behind a malformed block, and stops at END without waiting for more.
#[test]
fn stream_continues_after_malformed_block_until_end() {
    let bytes = pack(&[frame(2, 0, b"\x02"), hi()]);
    // Whoever reads on meets this.
    let reader = bytes.chain(Lying);
    let mut stream = StreamDecoder::new(reader, DecodeOptions::default());
    let mut blocks = Vec::new();
    let end = loop {
        match stream.next_event().expect("no malformed frame") {
            Some(Event::Frame(frame)) => blocks.push(stream.decode(frame)),
            Some(Event::End { offset }) => break offset,
            Some(_) => {}
            None => panic!("END comes first"),
        }
    };
    assert_eq!((blocks.len(), end), (2, 8 + 4 + 11));
    assert!(blocks[0].is_err() && blocks[1].is_ok());
    assert_eq!(stream.offset(), end + 4);
}
