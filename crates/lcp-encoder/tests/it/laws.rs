//! Whatever is encoded decodes to the same blocks.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode};
use lcp_testkit::{any_pack, nested_tree};
use lcp_types::{Block, DiffHunk, Role};
use proptest::prelude::*;

#[cfg(feature = "zstd")]
const COMPRESSIONS: &[Compression] = &[Compression::None, Compression::Block, Compression::Payload];
#[cfg(not(feature = "zstd"))]
const COMPRESSIONS: &[Compression] = &[Compression::None];

/// Nothing that we write is odd to us.
const STRICT: DecodeOptions<'static> = DecodeOptions {
    strict: true,
    store: None,
    body_bytes_max: 1 << 24,
    body_decompressed_bytes_max: 1 << 24,
    payload_decompressed_bytes_max: 1 << 24,
    total_decompressed_bytes_max: 1 << 24,
    blocks_max: 100,
    fields_max: 1000,
    block_memory_bytes_max: 1 << 20,
    block_memory_per_byte: 200,
};

proptest! {
    #[test]
    fn any_pack_round_trips(blocks in any_pack()) {
        for &compression in COMPRESSIONS {
            for magic in Magic::ALL {
                let options = EncodeOptions { magic, compression, index: true };
                let bytes = encode(&blocks, options).expect("within the limits");
                let start = match magic {
                    Magic::Lcp => b"LCP\0",
                    Magic::Bcp => b"BCP\0",
                };
                prop_assert!(bytes.starts_with(start));
                let pack = decode(&bytes, STRICT).expect("as written");
                prop_assert_eq!(&pack.blocks, &blocks);
                prop_assert_eq!(pack.header.magic, magic);
                let compressed = compression == Compression::Payload;
                prop_assert_eq!(pack.header.is_payload_compressed(), compressed);
                prop_assert_eq!(&pack.warnings, &[]);
                prop_assert_eq!(encode(&pack.blocks, options), Ok(bytes.clone()));
                let mut builder = PackWriter::new(options);
                for block in &blocks {
                    builder.add(block).expect("within the limits");
                }
                prop_assert_eq!(builder.finish(), Ok(bytes.clone()));
                prop_assert_eq!(builder.into_bytes(&[]), Ok(bytes));
            }
        }
    }
}

#[test]
fn deepest_tree_round_trips() {
    let blocks = [nested_tree(64)];
    let bytes = encode(&blocks, EncodeOptions::default()).expect("within the limits");
    assert_eq!(decode(&bytes, STRICT).expect("as written").blocks, blocks);
}

/// Lengths are written before what they are the length of is: at each number of
/// bytes that a length can have, and beside it, in blocks and in records.
#[test]
fn bodies_around_length_boundaries_round_trip() {
    let edges = [0, 1 << 7, 1 << 14, 1 << 21];
    for len in edges.into_iter().flat_map(|edge: usize| edge.saturating_sub(40)..edge + 3) {
        let text = "x".repeat(len);
        let blocks = [
            Block::conversation(Role::User, text.as_str()),
            Block::conversation(Role::User, "hi").with_summary(&text[..len.min(4_000)]),
            Block::diff(&text[..len.min(4_000)], vec![DiffHunk::new(1, 1, text.as_str())]),
            Block::embedding_ref(text.as_bytes(), "", "model"),
        ];
        let bytes = encode(&blocks, EncodeOptions::default()).expect("within the limits");
        assert_eq!(decode(&bytes, STRICT).expect("as written").blocks, blocks, "{len} bytes");
    }
}
