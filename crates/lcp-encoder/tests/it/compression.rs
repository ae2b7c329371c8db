//! Compression: only where it is due, never where a reader would refuse it.

use lcp_decoder::{DecodeOptions, Event, EventIter, blocks};
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode};
use lcp_testkit::SplitMix64;
use lcp_types::{Block, MemoryContentStore, limits};

const BLOCK: EncodeOptions =
    EncodeOptions { magic: Magic::Lcp, compression: Compression::Block, index: true };
const PAYLOAD: EncodeOptions =
    EncodeOptions { magic: Magic::Lcp, compression: Compression::Payload, index: true };

/// A block whose body is these bytes.
fn raw(body: Vec<u8>) -> Block<'static> {
    Block::raw(0x42, body)
}

/// Which frames of a pack are compressed.
fn compressed(pack: &[u8]) -> Vec<bool> {
    let frames = EventIter::new(pack, DecodeOptions::default());
    frames
        .filter_map(|event| match event.expect("as written") {
            Event::Frame(frame) => Some(frame.is_compressed()),
            _ => None,
        })
        .collect()
}

#[test]
fn only_shrinking_bodies_from_256_bytes_are_compressed() {
    let noise = |len| SplitMix64::new(1).bytes(len);
    let blocks = [raw(vec![0; 255]), raw(vec![0; 256]), raw(noise(256)), raw(noise(10_000))];
    let pack = encode(&blocks, BLOCK).expect("within the limits");
    assert_eq!(compressed(&pack), [false, true, false, false]);
}

/// The summary is part of the body: it counts, and is compressed with it.
#[test]
fn summary_counts_toward_the_compression_threshold() {
    // One byte of length, and what is missing to 256.
    let block = raw(vec![0; 250]).with_summary("aaaaa");
    let pack = encode(std::slice::from_ref(&block), BLOCK).expect("within the limits");
    assert_eq!(compressed(&pack), [true]);
    let read: Result<Vec<_>, _> = blocks(&pack, DecodeOptions::default()).collect();
    assert_eq!(read, Ok(vec![block]));
}

#[test]
fn compressed_payload_holds_uncompressed_bodies() {
    let pack = encode(&[raw(vec![0; 10_000])], PAYLOAD).expect("within the limits");
    assert!(pack.len() < 100, "10,000 zeros in {} bytes", pack.len());
    assert_eq!(compressed(&pack), [false]);
}

#[test]
fn references_are_not_compressed() {
    let mut store = MemoryContentStore::default();
    let mut pack = PackWriter::new(BLOCK);
    pack.add_reference(&raw(vec![0; 10_000]), &mut store).expect("within the limits");
    assert_eq!(compressed(&pack.finish().expect("within the limits")), [false]);
}

fn largest() -> Vec<u8> {
    vec![0; usize::try_from(limits::BODY_DECOMPRESSED_BYTES_MAX).expect("a small number")]
}

/// A body that would be too large when it is decompressed is stored as it is,
/// and so is one that would be too much after those before it.
#[test]
fn bodies_over_decompression_limits_stay_uncompressed() {
    let block = raw(largest());
    let mut too_large = largest();
    too_large.push(0);
    let mut pack = PackWriter::new(BLOCK);
    pack.add(&raw(too_large)).expect("within the limits");
    for _ in 0..17 {
        pack.add(&block).expect("within the limits");
    }
    let pack = pack.finish().expect("within the limits");
    let expected = [&[false][..], &[true; 16], &[false]].concat();
    assert_eq!(compressed(&pack), expected);
    let mut read = 0;
    for block in blocks(&pack, DecodeOptions::default()) {
        block.expect("what is written is read");
        read += 1;
    }
    assert_eq!(read, 18);
}

/// A payload and the references in it count together.
#[test]
fn payload_over_the_total_limit_is_rejected() {
    let mut store = MemoryContentStore::default();
    let mut pack = PackWriter::new(PAYLOAD);
    for _ in 0..16 {
        pack.add_reference(&raw(largest()), &mut store).expect("within the limits");
    }
    let error = pack.finish().expect_err("256 MiB of references and 16 frames");
    // A frame is type, flags, length and hash: 35 bytes; END is 4.
    assert_eq!(
        error.to_string(),
        format!(
            "pack exceeds TOTAL_DECOMPRESSED_BYTES_MAX: got {}, maximum 268435456",
            268_435_456 + 16 * 35 + 4
        ),
    );
}
