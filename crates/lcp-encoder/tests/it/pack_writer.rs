//! The builder: what is said of a block reaches that block and no other.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::{EncodeOptions, Error, PackWriter, encode};
use lcp_testkit::{any_pack, nested_tree};
use lcp_types::{
    Annotation, Block, BlockContent, Lang, Priority, Role, Tag, UnknownField, UnknownValue,
};
use proptest::prelude::*;

fn hi() -> Block<'static> {
    Block::conversation(Role::User, "hi")
}

#[test]
fn annotations_follow_their_block() -> Result<(), Error> {
    let mut pack = PackWriter::default();
    pack.add(&hi())?;
    let code = Block::code(Lang::Rust, "a.rs", "").with_summary("nothing");
    let mut added = pack.add(&code)?;
    assert_eq!(added.index(), 1);
    added.priority(Priority::High)?.tag(&Tag::from_key("pinned"))?.tag(&Tag::new("rank", "1"))?;
    assert_eq!(added.index(), 1, "the block's index, not that of its annotations");
    assert_eq!(pack.add(&hi())?.priority(Priority::Low)?.index(), 5);
    assert_eq!(pack.blocks(), 7);
    let bytes = pack.finish()?;
    let found = decode(&bytes, DecodeOptions::default()).expect("as written");
    let expected = [
        hi(),
        code,
        Block::new(Annotation::priority(1, Priority::High)),
        Block::new(Annotation::tag(1, &Tag::from_key("pinned"))),
        Block::new(Annotation::tag(1, &Tag::new("rank", "1"))),
        hi(),
        Block::new(Annotation::priority(5, Priority::Low)),
    ];
    assert_eq!(found.blocks, expected);
    Ok(())
}

proptest! {
    #[test]
    fn priority_targets_its_block(
        blocks in any_pack(),
        priorities in proptest::collection::vec(proptest::sample::select(&Priority::ALL[..]), 12),
    ) {
        let mut pack = PackWriter::default();
        let mut expected = Vec::new();
        for (block, priority) in blocks.iter().zip(priorities) {
            let mut added = pack.add(block).expect("within the limits");
            let annotation = Annotation::priority(added.index(), priority);
            prop_assert_eq!(added.index(), expected.len() as u64);
            added.priority(priority).expect("within the limits");
            expected.extend([block.clone(), Block::new(annotation)]);
        }
        let bytes = pack.finish().expect("within the limits");
        let found = decode(&bytes, DecodeOptions::default()).expect("as written");
        prop_assert_eq!(found.blocks, expected);
    }
}

/// Blocks that cannot be written, and why.
fn refused() -> Vec<(Block<'static>, &'static str)> {
    let mut reserved = hi();
    reserved.reserved_flags = 0b1000_0001;
    let unknown = || vec![UnknownField { id: 2, value: UnknownValue::Varint(1) }].into();
    let mut known_field = hi();
    if let BlockContent::Conversation(turn) = &mut known_field.content {
        turn.unknown = unknown();
    }
    let mut nested = nested_tree(2);
    if let BlockContent::FileTree(tree) = &mut nested.content {
        tree.entries[0].children[0].unknown = unknown();
    }
    let long = "a".repeat((1 << 20) + 1);
    vec![
        (reserved, "reserved flags must be reserved bits, got 0x81"),
        (known_field, "cannot write field 2 of Conversation as unknown: it is a known field"),
        (nested, "cannot write field 2 of FileEntry as unknown: it is a known field"),
        (Block::raw(0x01, ""), "raw block must have an unknown type, but 0x01 is code"),
        (Block::raw(0xFE, ""), "raw block must have an unknown type, but 0xfe is extension"),
        (Block::raw(0xFF, ""), "raw block must have an unknown type, but 0xff is end"),
        (
            Block::code(Lang::Rust, long.clone(), ""),
            "path exceeds TEXT_BYTES_MAX: got 1048577, maximum 1048576",
        ),
        (
            hi().with_summary(long),
            "summary exceeds SUMMARY_BYTES_MAX: got 1048577, maximum 1048576",
        ),
        (nested_tree(65), "children exceeds DEPTH_MAX: got 65, maximum 64"),
    ]
}

#[test]
fn invalid_block_is_an_error() {
    for (block, expected) in refused() {
        let error = encode(&[block], EncodeOptions::default()).expect_err(expected);
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.is_limit(), expected.contains(" exceeds "), "{expected}");
    }
}

#[test]
fn failed_block_leaves_the_pack_unchanged() -> Result<(), Error> {
    let mut pack = PackWriter::default();
    pack.add(&hi())?.priority(Priority::High)?;
    let before = pack.finish()?;
    for (block, expected) in refused() {
        assert!(pack.add(&block).is_err(), "{expected}");
        assert_eq!((pack.blocks(), pack.finish()?), (2, before.clone()), "{expected}");
    }
    assert_eq!(pack.add(&hi())?.index(), 2);
    Ok(())
}

#[test]
fn failed_tag_leaves_its_block_in_the_pack() -> Result<(), Error> {
    let mut pack = PackWriter::default();
    let long = "a".repeat(usize::try_from(lcp_types::limits::BODY_BYTES_MAX).expect("64 bits") + 1);
    let error = pack.add(&hi())?.tag(&Tag::from_key(long)).expect_err("a body of its own");
    assert_eq!(error.to_string(), "value exceeds BODY_BYTES_MAX: got 268435457, maximum 268435456",);
    assert_eq!(pack.finish()?, encode(&[hi()], EncodeOptions::default())?);
    Ok(())
}

#[test]
fn finish_can_be_called_repeatedly() -> Result<(), Error> {
    let mut pack = PackWriter::default();
    pack.add(&hi())?;
    assert_eq!(pack.finish()?, pack.finish()?);
    pack.add(&hi())?;
    assert_eq!(pack.finish()?, encode(&[hi(), hi()], EncodeOptions::default())?);
    Ok(())
}
