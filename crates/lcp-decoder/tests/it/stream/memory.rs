//! What a stream holds, and what it costs.

use std::io::{self, Read};

use lcp_decoder::{DecodeOptions, StreamDecoder};
use lcp_types::limits;

use crate::support::{END, frame, header, varint};
use crate::walk::Cuts;

use super::Pieces;

const CHUNK: usize = 64 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;
const BLOCKS: usize = 3200;

/// Blocks and END, 200 MiB that are nowhere as a whole.
struct Frames {
    frame: Vec<u8>,
    left: usize,
    at: usize,
}

impl Frames {
    fn new() -> Self {
        let frame = frame(0x42, 0, vec![b'a'; BLOCK_BYTES]);
        Self { frame, left: BLOCKS, at: 0 }
    }
}

impl Read for Frames {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let end = &END[..];
        let from = if self.left == 0 { end } else { &self.frame[..] };
        let count = (&from[self.at..]).read(space)?;
        self.at += count;
        if self.left > 0 && self.at == self.frame.len() {
            self.left -= 1;
            self.at = 0;
        }
        Ok(count)
    }
}

/// Reads all of it, and gives the most that the stream ever held.
fn read_all(reader: impl Read) -> usize {
    let mut stream = StreamDecoder::new(reader, DecodeOptions::default());
    let (mut blocks, mut most) = (0, 0);
    while let Some(block) = stream.next_block().expect("as written") {
        assert_eq!(block.block_type().code(), 0x42);
        blocks += 1;
        most = most.max(stream.capacity());
    }
    assert_eq!(blocks, BLOCKS);
    most.max(stream.capacity())
}

#[test]
fn stream_holds_memory_for_one_block() {
    let most = read_all(header(0).chain(Frames::new()));
    assert!(most <= BLOCK_BYTES + 5, "{most} bytes");
}

#[cfg(feature = "zstd")]
#[test]
fn compressed_stream_memory_is_bounded() {
    // 200 MiB in a few KiB: one window of zstd holds it all.
    let zstd = zstd::stream::read::Encoder::new(Frames::new(), 1).expect("zstd starts");
    let most = read_all(header(1).chain(zstd));
    assert!(most <= 2 * BLOCK_BYTES + 3 * CHUNK, "{most} bytes");
}

/// A block that only claims to be long takes nothing.
#[test]
fn claimed_block_length_is_not_preallocated() {
    let claim = [header(0), vec![0x42, 0], varint(limits::BODY_BYTES_MAX), vec![0; 9]].concat();
    let mut stream = StreamDecoder::new(&claim[..], DecodeOptions::default());
    assert_eq!(stream.next_block().expect_err("cut short").offset(), claim.len() as u64);
    assert!(stream.capacity() <= CHUNK, "{} bytes", stream.capacity());
}

/// Byte by byte; copying what is there at each of them would take hours.
#[test]
fn long_block_read_bytewise_decodes() {
    let body: Vec<u8> = (0..8u32 << 20).map(|i| i.to_le_bytes()[0]).collect();
    let pack = [header(0), frame(0x42, 0, &body), END.to_vec()].concat();
    let mut stream =
        StreamDecoder::new(Pieces::new(&pack, Cuts::EveryByte), DecodeOptions::default());
    let block = stream.next_block().expect("as written").expect("a block");
    assert_eq!(block, lcp_types::Block::raw(0x42, body));
    assert!(stream.next_block().expect("as written").is_none());
    assert!(stream.capacity() <= pack.len(), "{} bytes", stream.capacity());
}
