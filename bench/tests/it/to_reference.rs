//! Packs of LCP's writer, read by the reference.

use std::sync::Arc;

use bcp_decoder::{BcpDecoder, DecodeError};
use bcp_encoder::MemoryContentStore;
use lcp_encoder::{Compression, EncodeOptions, Magic, PackWriter, encode};
use lcp_testkit::{hex, known_pack};
use lcp_types::{
    Annotation, Block, BlockContent, Lang, Priority, Role, Tag, UnknownField, UnknownValue,
};
use proptest::prelude::*;

use crate::reference::{Store, TheirBlock, expected};

const COMPRESSIONS: [Compression; 3] =
    [Compression::None, Compression::Block, Compression::Payload];

fn bcp(compression: Compression) -> EncodeOptions {
    EncodeOptions { magic: Magic::Bcp, compression, index: false }
}

fn read(pack: &[u8]) -> Result<Vec<TheirBlock>, DecodeError> {
    let pack = BcpDecoder::decode(pack)?;
    Ok(pack.blocks.into_iter().map(TheirBlock::from).collect())
}

#[track_caller]
fn check(blocks: &[Block<'_>]) {
    let blocks_expected: Vec<_> = blocks.iter().map(expected).collect();
    for compression in COMPRESSIONS {
        let pack = encode(blocks, bcp(compression)).expect("within the limits");
        let found = read(&pack).unwrap_or_else(|error| panic!("{compression:?}: {error}"));
        assert_eq!(found, blocks_expected, "{compression:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn reference_reads_any_lcp_pack_in_every_compression(blocks in known_pack()) {
        check(&blocks);
    }

    #[test]
    fn reference_reads_content_references_with_a_store(blocks in known_pack()) {
        let mut store = Store(Arc::new(MemoryContentStore::new()));
        let mut pack = PackWriter::new(bcp(Compression::None));
        for block in &blocks {
            pack.add_reference(block, &mut store).expect("within the limits");
        }
        let pack = pack.finish().expect("within the limits");
        let found = BcpDecoder::decode_with_store(&pack, &*store.0).expect("as written");
        let found: Vec<_> = found.blocks.into_iter().map(TheirBlock::from).collect();
        let blocks_expected: Vec<_> = blocks.iter().map(expected).collect();
        prop_assert_eq!(found, blocks_expected);
        prop_assert!(BcpDecoder::decode(&pack).is_err(), "it needs the store");
    }
}

/// What LCP stores beside the blocks is made of what 1.0 has.
#[test]
fn reference_reads_priorities_and_tags_as_annotations() {
    let mut pack = PackWriter::new(bcp(Compression::None));
    let block = Block::code(Lang::Rust, "a.rs", "fn a() {}").with_summary("a");
    let mut added = pack.add(&block).expect("within the limits");
    added.priority(Priority::Background).expect("within the limits");
    added.tag(&Tag::new("rank", "0.83")).expect("within the limits");
    let found = read(&pack.finish().expect("within the limits")).expect("as written");
    let annotations = [
        Annotation::priority(0, Priority::Background),
        Annotation::tag(0, &Tag::new("rank", "0.83")),
    ];
    let annotations = annotations.map(|annotation| expected(&Block::new(annotation)));
    assert_eq!(found, [&[expected(&block)], &annotations[..]].concat());
}

/// A newer writer's types, languages and fields are passed over there.
#[test]
fn reference_skips_unknown_types_and_fields() {
    let mut turn = Block::conversation(Role::User, "hi");
    let without = expected(&turn);
    if let BlockContent::Conversation(turn) = &mut turn.content {
        turn.unknown = vec![
            UnknownField { id: 9, value: UnknownValue::Varint(u64::MAX) },
            UnknownField { id: 10, value: UnknownValue::Nested("not fields".into()) },
        ]
        .into();
    }
    let mut flagged = Block::raw(0x42, "body").with_summary("S");
    flagged.reserved_flags = 0x80;
    let zig = Block::code(Lang::Other(0x42), "x.zig", "");
    let pack = encode(&[turn, flagged.clone(), zig.clone()], bcp(Compression::None));
    let found = read(&pack.expect("within the limits")).expect("passed over");
    assert_eq!(found, [without, expected(&flagged), expected(&zig)]);
}

/// LCP keeps unnamed values, the reference refuses them in all but languages.
#[test]
fn reference_rejects_unnamed_roles() {
    let block = Block::conversation(Role::Other(9), "hi");
    let pack = encode(&[block], bcp(Compression::None)).expect("within the limits");
    let error = read(&pack).expect_err("no such role there");
    assert_eq!(error.to_string(), "invalid Role value: 0x09");
}

#[test]
fn reference_reads_an_empty_pack() {
    assert_eq!(read(&encode(&[], bcp(Compression::None)).expect("nothing")).expect("END"), []);
}

#[test]
fn reference_rejects_the_lcp_magic() {
    let block = Block::conversation(Role::User, "hi");
    let pack = encode(&[block], EncodeOptions::default()).expect("within the limits");
    let error = read(&pack).expect_err("another magic");
    assert_eq!(
        error.to_string(),
        "invalid header: invalid magic number: expected 0x42435000, got 0x0050434C",
    );
}

/// The vectors of RFC 0001 §12, under the reference's magic.
#[test]
fn reference_agrees_on_the_rfc_vectors() {
    let vectors = [
        "010011 010001 020104742e7273 0301042f2f2078 08000a 010000 020001 03010102",
        "010113 0153 010001 020104742e7273 0301042f2f2078
         02000d 010002 0201026869 0301026331
         03001e 0101012f 020217 01010164 020001 030000 04020a 01010166 020000 030003
         070013 01010170 02020c 010001 020002 0301032b610a",
    ];
    for vector in vectors {
        let theirs = read(&hex(&format!("4243500001000000 {vector} ff010000"))).expect("1.0");
        let ours = hex(&format!("4c43500001000000 {vector} ff010000"));
        let ours = lcp_decoder::decode(&ours, lcp_decoder::DecodeOptions::default());
        let ours: Vec<_> = ours.expect("1.0").blocks.iter().map(expected).collect();
        assert_eq!(theirs, ours);
    }
}
