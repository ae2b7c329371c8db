//! Limits that need large packs: what is written at the limit is read.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{EncodeOptions, encode};
use lcp_types::{Block, BlockContent, DiffHunk, limits};

/// A DIFF of `hunks` hunks: a field for the path, four for each hunk.
fn diff(hunks: u64) -> Block<'static> {
    Block::diff("", (0..hunks).map(|_| DiffHunk::new(0, 0, "")).collect())
}

#[test]
fn field_count_over_limit_is_rejected() {
    let most = (limits::FIELDS_MAX - 1) / 4;
    let bytes = encode(&[diff(most)], EncodeOptions::default()).expect("within the limits");
    let pack = decode(&bytes, DecodeOptions::default()).expect("what is written is read");
    let BlockContent::Diff(found) = &pack.blocks[0].content else {
        panic!("a DIFF was written");
    };
    assert_eq!(found.hunks.len() as u64, most);
    let error = encode(&[diff(most + 1)], EncodeOptions::default()).expect_err("one too many");
    assert_eq!(error.to_string(), "block exceeds FIELDS_MAX: got 4194305, maximum 4194304");
}

#[test]
fn longest_text_and_summary_are_accepted() {
    let longest = "a".repeat(usize::try_from(limits::TEXT_BYTES_MAX).expect("a small number"));
    let block = Block::diff(longest.as_str(), vec![]).with_summary(longest.as_str());
    let bytes = encode(&[block], EncodeOptions::default()).expect("within the limits");
    assert!(decode(&bytes, DecodeOptions::default()).is_ok());
}

/// Entries that are all alike: much memory for a reader, and next to nothing compressed.
#[cfg(feature = "zstd")]
fn tree() -> Block<'static> {
    Block::file_tree("/", vec![lcp_types::FileEntry::file("a", 1); 200_000])
}

#[cfg(feature = "zstd")]
fn with(compression: lcp_encoder::Compression) -> EncodeOptions {
    EncodeOptions { compression, ..EncodeOptions::default() }
}

/// What a reader would not take compressed is written as it is.
#[test]
#[cfg(feature = "zstd")]
fn memory_heavy_block_stays_uncompressed() {
    use lcp_encoder::Compression;

    let small = Block::file_tree("/", vec![lcp_types::FileEntry::file("a", 1); 100]);
    let blocks = [small, tree()];
    let pack = encode(&blocks, with(Compression::Block)).expect("within the limits");
    let events = lcp_decoder::EventIter::new(&pack, DecodeOptions::default());
    let is_compressed = events.filter_map(|event| match event {
        Ok(lcp_decoder::Event::Frame(frame)) => Some(frame.is_compressed()),
        _ => None,
    });
    assert_eq!(is_compressed.collect::<Vec<_>>(), [true, false]);
    assert_eq!(decode(&pack, DecodeOptions::default()).expect("what is written").blocks, blocks);
}

/// Likewise a payload; what is long enough beside them earns their memory.
#[test]
#[cfg(feature = "zstd")]
fn memory_heavy_payload_stays_uncompressed() {
    use lcp_encoder::Compression;

    let noise = Block::raw(0x42, lcp_testkit::SplitMix64::new(1).bytes(400 << 10));
    let few = vec![Block::raw(0x42, ""); 100_000];
    let many = vec![Block::raw(0x42, ""); 300_000];
    let behind = [std::slice::from_ref(&noise), &many[..]].concat();
    let before = [&many[..], &[noise]].concat();
    for (blocks, is_compressed) in
        [(few, true), (many, false), (behind, true), (before, false), (vec![tree()], false)]
    {
        let pack = encode(&blocks, with(Compression::Payload)).expect("within the limits");
        let found = decode(&pack, DecodeOptions::default()).expect("what is written is read");
        assert_eq!(found.header.is_payload_compressed(), is_compressed, "{} blocks", blocks.len());
        assert!(found.blocks == blocks, "other blocks");
    }
}

#[test]
#[cfg(feature = "zstd")]
fn memory_heavy_reference_is_rejected() {
    let mut pack = lcp_encoder::PackWriter::default();
    let mut store = lcp_types::MemoryContentStore::default();
    let error = pack.add_reference(&tree(), &mut store).expect_err("76.8 MB for 35 bytes");
    assert!(error.is_limit());
    assert_eq!(
        error.to_string(),
        "pack exceeds BLOCK_MEMORY_BYTES_MAX: got 76800384, maximum 67125376"
    );
}
