//! Blocks to JSON and back lose nothing.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::manifest::{Entry, Manifest, ManifestErrorKind, to_json};
use lcp_encoder::{EncodeOptions, encode};
use lcp_testkit::{any_pack, nested_tree};
use lcp_types::{Block, BlockContent, CarriedLevel, FormatHint, Lang, Priority, Status, Tag};
use proptest::prelude::*;

use super::parse;

fn encoded(blocks: &[Block<'_>]) -> Vec<u8> {
    encode(blocks, EncodeOptions::default()).expect("within the limits")
}

proptest! {
    #[test]
    fn pack_to_json_encodes_to_the_same_bytes(blocks in any_pack()) {
        let json = to_json(&blocks);
        let manifest = parse(&json).expect("as printed");
        let bytes = manifest.to_pack(EncodeOptions::default()).expect("within the limits");
        prop_assert_eq!(&bytes, &encoded(&blocks));
        let pack = decode(&bytes, DecodeOptions::default()).expect("as written");
        prop_assert_eq!(to_json(&pack.blocks), json);
    }
}

const LEFT_OUT: &[&str] = &["lang", "status", "format_hint", "content"];

proptest! {
    /// What is said beside the blocks, and what need not be said.
    #[test]
    fn manifest_round_trips_through_json(
        blocks in any_pack(),
        said in (prop::option::of(0usize..5), prop::option::of("[a-z=]{0,3}"), prop::option::of(".{0,9}")),
        without in prop::sample::subsequence(LEFT_OUT, 0..=LEFT_OUT.len()),
    ) {
        let (priority, value, text) = said;
        let tag = value.map_or_else(|| Tag::from_key("pinned"), |value| Tag::new("rank", value));
        let entry = |block: Block<'static>| Entry {
            priority: priority.map(|at| Priority::ALL[at]),
            tags: vec![tag.clone()],
            levels: text.iter().map(|text| (CarriedLevel::ALL[0], text.clone())).collect(),
            // What is left out must be what stands for it.
            ..match &block.content {
                BlockContent::Code(code) if code.lang != Lang::Unknown => Entry::new(block),
                BlockContent::ToolResult(of) if of.status != Status::Ok => Entry::new(block),
                BlockContent::Document(of) if of.format_hint != FormatHint::Plain => Entry::new(block),
                _ => Entry::new(block).omit_fields(&without),
            }
        };
        let is_annotation = |block: &Block<'_>| block.as_annotation().is_some();
        let entries: Vec<_> = blocks.into_iter().filter(|of| !is_annotation(of)).map(entry).collect();
        let manifest = Manifest { entries };
        prop_assert_eq!(parse(&manifest.to_json()).expect("as printed"), manifest);
    }
}

#[test]
fn default_keys_are_omitted_from_json() {
    let entry = |block| Entry::new(block).omit_fields(LEFT_OUT);
    let blocks = [
        Block::code(Lang::Unknown, "a", "x"),
        Block::tool_result("sh", Status::Ok, "x"),
        Block::document("d", "x", FormatHint::Plain),
    ];
    let manifest = Manifest { entries: blocks.into_iter().map(entry).collect() };
    let expected = r#"{"blocks":[
{"type":"code","path":"a","content":"x"},
{"type":"tool_result","tool_name":"sh","content":"x"},
{"type":"document","title":"d","content":"x"}
]}
"#;
    assert_eq!(manifest.to_json(), expected);
    assert_eq!(parse(expected).expect("as printed"), manifest);
}

#[test]
fn deepest_tree_round_trips_through_manifest() {
    let blocks = [nested_tree(64)];
    let manifest = parse(&to_json(&blocks)).expect("as printed");
    assert_eq!(manifest.to_pack(EncodeOptions::default()), Ok(encoded(&blocks)));
    let manifest = parse(&to_json(&[nested_tree(65)])).expect("the format is not asked yet");
    let error = manifest.to_pack(EncodeOptions::default()).expect_err("one level too many");
    assert_eq!(error.to_string(), "blocks[0]: children exceeds DEPTH_MAX: got 65, maximum 64");
    assert_eq!(error.kind, ManifestErrorKind::Limit);
}
