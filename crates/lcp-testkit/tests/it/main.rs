//! The strategies reach what they promise: a law over blocks that never come
//! would say nothing.

#[cfg(feature = "properties")]
mod properties;

use std::collections::HashSet;

use lcp_testkit::{SplitMix64, any_pack, hex, known_pack, nested_tree};
use lcp_types::codec::Record;
use lcp_types::wire::BLOCK_RESERVED;
use lcp_types::{
    Block, BlockContent, BlockType, Code, CowBytes, FileEntry, Lang, UnknownField, UnknownValue,
};
use proptest::strategy::{Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;

/// The blocks of many packs, the same ones in every run.
fn blocks(packs: impl Strategy<Value = Vec<Block<'static>>>) -> Vec<Block<'static>> {
    let mut runner = TestRunner::deterministic();
    let pack = |_| packs.new_tree(&mut runner).expect("nothing is rejected").current();
    (0..1_000).flat_map(pack).collect()
}

fn types(blocks: &[Block<'_>]) -> HashSet<u8> {
    blocks.iter().map(|block| block.block_type().code()).collect()
}

fn codes(blocks: &[Block<'static>]) -> Vec<Code<'static>> {
    let code = |block: &Block<'static>| match &block.content {
        BlockContent::Code(code) => Some(code.clone()),
        _ => None,
    };
    blocks.iter().filter_map(code).collect()
}

/// How deep the entries of a FILE_TREE nest.
fn depth(entries: &[FileEntry<'_>]) -> usize {
    entries.iter().map(|entry| 1 + depth(&entry.children)).max().unwrap_or(0)
}

fn depths(blocks: &[Block<'_>]) -> HashSet<usize> {
    let depth = |block: &Block<'_>| match &block.content {
        BlockContent::FileTree(tree) => Some(depth(&tree.entries)),
        _ => None,
    };
    blocks.iter().filter_map(depth).collect()
}

#[test]
fn any_pack_generates_every_kind_of_block() {
    let blocks = blocks(any_pack());
    let known: HashSet<_> = BlockType::ALL.iter().map(|ty| ty.code()).collect();
    assert!(types(&blocks).is_superset(&known));
    assert!(types(&blocks).len() > known.len() + 20, "unknown types");
    assert!(blocks.iter().any(|block| block.reserved_flags != 0));
    assert!(blocks.iter().all(|block| block.reserved_flags & !BLOCK_RESERVED == 0));
    assert!(blocks.iter().any(|block| block.summary.as_deref() == Some("")));
    assert!(depths(&blocks).is_superset(&[0, 1, 2, 3].into()));
    let codes = codes(&blocks);
    assert!(codes.iter().any(|code| matches!(code.lang, Lang::Other(_))));
    assert!(codes.iter().any(|code| code.content.as_str().is_none()));
    assert!(codes.iter().any(|code| code.content.len() > 2_000));
    assert!(codes.iter().any(|code| code.line_start.is_some() && code.line_end.is_none()));
    let unknown: Vec<_> = codes.iter().flat_map(|code| &code.unknown).collect();
    let of = |want: fn(&UnknownValue<'_>) -> bool| unknown.iter().any(|field| want(&field.value));
    assert!(of(|value| matches!(value, UnknownValue::Varint(u64::MAX))));
    assert!(of(|value| matches!(value, UnknownValue::Bytes(_))));
    assert!(of(|value| matches!(value, UnknownValue::Nested(_))));
    assert!(
        unknown.iter().any(|field| field.id == 0)
            && unknown.iter().any(|field| field.id == u64::MAX)
    );
    assert!(codes.iter().any(|code| code.unknown.len() > 1));
}

/// As encoders write them, or a block would not equal its round trip.
#[test]
fn unknown_fields_have_ascending_unknown_ids() {
    for code in codes(&blocks(any_pack())) {
        assert!(code.unknown.is_sorted_by_key(|field| field.id));
        let known = |field: &UnknownField<'_>| Code::FIELDS.iter().any(|spec| spec.id == field.id);
        assert!(!code.unknown.iter().any(known), "{code:?}");
    }
}

#[test]
fn known_pack_has_only_known_types_and_fields() {
    let blocks = blocks(known_pack());
    let known: HashSet<_> = BlockType::ALL.iter().map(|ty| ty.code()).collect();
    assert_eq!(types(&blocks), known);
    assert!(blocks.iter().all(|block| block.reserved_flags == 0));
    assert!(depths(&blocks).is_superset(&[1, 2, 3].into()));
    for code in codes(&blocks) {
        assert_eq!(code.line_start.is_some(), code.line_end.is_some());
        assert!(code.unknown.is_empty() && !matches!(code.lang, Lang::Other(_)));
    }
    for block in &blocks {
        let annotation = block.as_annotation();
        assert!(annotation.is_none_or(|it| u32::try_from(it.target_block_id).is_ok()));
    }
}

#[test]
fn nested_tree_has_the_requested_depth() {
    for levels in [0, 1, 65] {
        assert_eq!(depths(&[nested_tree(levels)]), [levels as usize].into());
    }
}

#[test]
fn random_choices_depend_only_on_the_seed() {
    let draw = |seed| {
        let mut rng = SplitMix64::new(seed);
        (rng.below(1_000), rng.below_u32(1_000), rng.choose(&[1, 2, 3]), rng.bytes(9))
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    let mut rng = SplitMix64::new(0);
    let drawn: HashSet<_> = (0..100).map(|_| rng.below(10)).collect();
    assert_eq!(drawn, (0..10).collect());
}

#[test]
fn hex_accepts_digits_in_either_case() {
    assert_eq!(CowBytes::from(hex("0aF0\n 7f")), CowBytes::from(vec![0x0A, 0xF0, 0x7F]));
}

#[test]
#[should_panic = "whole bytes"]
fn hex_panics_on_an_odd_number_of_digits() {
    let _ = hex("0a0");
}
