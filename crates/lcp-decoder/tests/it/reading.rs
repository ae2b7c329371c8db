//! Sources that are read at offsets: the same blocks from each, and no more requests
//! than there must be (RFC 0003 §6).

use std::borrow::Cow;
use std::cell::RefCell;
use std::io;
use std::ops::Range;

use lcp_decoder::{DecodeOptions, PackReader, ReadAt};
use lcp_encoder::{EncodeOptions, encode};
use lcp_types::{Block, BlockSource, BlockSourceErrorKind, Lang, Role};

/// Bytes that lie far away, and every range that was asked of them.
struct Far {
    bytes: Vec<u8>,
    asked: RefCell<Vec<Range<u64>>>,
}

impl Far {
    fn new(bytes: Vec<u8>) -> Self {
        Self { bytes, asked: RefCell::default() }
    }

    fn take_asked(&self) -> Vec<Range<u64>> {
        self.asked.take()
    }
}

impl ReadAt for Far {
    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }

    fn read(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        self.asked.borrow_mut().extend_from_slice(ranges);
        let read = self.bytes.read(ranges)?;
        Ok(read.into_iter().map(|bytes| Cow::Owned(bytes.into_owned())).collect())
    }

    fn has_high_latency(&self) -> bool {
        true
    }
}

fn blocks(count: usize) -> Vec<Block<'static>> {
    let block = |i: usize| match i % 3 {
        0 => Block::code(Lang::Rust, format!("src/f{i}.rs"), "fn f() {}\n".repeat(500)),
        _ => Block::conversation(Role::User, format!("turn {i}")),
    };
    (0..count).map(block).collect()
}

#[test]
fn remote_pack_is_read_in_few_requests() {
    let blocks = blocks(3_000);
    let pack = encode(&blocks, EncodeOptions::default()).expect("fits");
    let size = pack.len() as u64;
    let reader = PackReader::open(Far::new(pack), DecodeOptions::default()).expect("a pack");
    // The header and the end, in which the index lies.
    assert_eq!(reader.source().take_asked(), [0..8, size - 65_536..size]);
    // Two that lie beside each other, and one far from them.
    let read = reader.read(&[4, 5, 2_500]).expect("as written");
    assert_eq!(read, [blocks[4].clone(), blocks[5].clone(), blocks[2_500].clone()]);
    assert_eq!(reader.source().take_asked().len(), 2);
}

#[test]
fn large_index_takes_one_more_request() {
    let blocks: Vec<_> =
        (0..20_000).map(|i| Block::conversation(Role::User, format!("turn {i}"))).collect();
    let pack = encode(&blocks, EncodeOptions::default()).expect("fits");
    let reader = PackReader::open(Far::new(pack), DecodeOptions::default()).expect("a pack");
    assert_eq!(reader.source().take_asked().len(), 3);
    assert_eq!(reader.read(&[19_999]).expect("as written"), &blocks[19_999..]);
}

#[test]
fn file_reads_return_the_written_blocks() {
    let blocks = blocks(100);
    let pack = encode(&blocks, EncodeOptions::default()).expect("fits");
    let path = std::env::temp_dir().join(format!("lcp-reading-{}.lcp", std::process::id()));
    std::fs::write(&path, &pack).expect("a temporary file");
    let file = std::fs::File::open(&path).expect("just written");
    let some = [0, 7, 42, 99];
    let wanted: Vec<_> = some.iter().map(|&at| blocks[at as usize].clone()).collect();
    let reader = PackReader::open(file, DecodeOptions::default()).expect("a pack");
    assert_eq!(reader.read(&some).expect("as written"), wanted);
    assert_eq!(reader.read_all().expect("as written").as_ref(), blocks);
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn pack_without_index_is_still_readable() {
    let blocks = blocks(10);
    let options = EncodeOptions { index: false, ..EncodeOptions::default() };
    let pack = encode(&blocks, options).expect("fits");
    let reader = PackReader::open(pack, DecodeOptions::default()).expect("a pack");
    assert!(reader.block_index().is_none() && reader.index().is_none());
    assert_eq!(reader.read(&[3, 9]).expect("as written"), [blocks[3].clone(), blocks[9].clone()]);
    // One that is not there, one twice, and one behind a larger one.
    for wrong in [&[10][..], &[3, 3], &[9, 3]] {
        let error = reader.read(wrong).unwrap_err();
        assert_eq!(error.kind, BlockSourceErrorKind::Mismatch);
    }
}

/// A source that breaks off.
struct Broken;

impl ReadAt for Broken {
    fn size(&self) -> io::Result<u64> {
        Ok(100)
    }

    fn read(&self, _: &[Range<u64>]) -> io::Result<Vec<Cow<'_, [u8]>>> {
        Err(io::Error::other("the line is dead"))
    }
}

#[test]
fn io_and_decode_errors_are_distinct() {
    let error = PackReader::open(Broken, DecodeOptions::default()).err().expect("broken");
    assert_eq!(error.to_string(), "the line is dead");
    let Err(lcp_decoder::ReadError::Decode(error)) =
        PackReader::open(Far::new(Vec::new()), DecodeOptions::default())
    else {
        panic!("an empty object is no pack")
    };
    assert_eq!(error.code(), "unexpected_eof");
    let error = PackReader::open(b"no pack at all".to_vec(), DecodeOptions::default());
    assert!(matches!(error, Err(lcp_decoder::ReadError::Decode(_))));
}
