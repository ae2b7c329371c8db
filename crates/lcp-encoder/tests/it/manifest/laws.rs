//! Blocks to JSON and back lose nothing.

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::manifest::{ManifestErrorKind, to_json};
use lcp_encoder::{EncodeOptions, encode};
use lcp_testkit::{any_pack, nested_tree};
use lcp_types::Block;
use proptest::prelude::*;

use super::parse;

fn encoded(blocks: &[Block<'_>]) -> Vec<u8> {
    encode(blocks, EncodeOptions::default()).expect("within the limits")
}

proptest! {
    #[test]
    fn a_printed_pack_encodes_to_the_same_bytes(blocks in any_pack()) {
        let json = to_json(&blocks);
        let manifest = parse(&json).expect("as printed");
        let bytes = manifest.encode(EncodeOptions::default()).expect("within the limits");
        prop_assert_eq!(&bytes, &encoded(&blocks));
        let pack = decode(&bytes, DecodeOptions::default()).expect("as written");
        prop_assert_eq!(to_json(&pack.blocks), json);
    }
}

#[test]
fn the_deepest_tree_survives() {
    let blocks = [nested_tree(64)];
    let manifest = parse(&to_json(&blocks)).expect("as printed");
    assert_eq!(manifest.encode(EncodeOptions::default()), Ok(encoded(&blocks)));
    let manifest = parse(&to_json(&[nested_tree(65)])).expect("the format is not asked yet");
    let error = manifest.encode(EncodeOptions::default()).expect_err("one level too many");
    assert_eq!(error.to_string(), "blocks[0]: children is too large: DEPTH_MAX is 64, it has 65");
    assert_eq!(error.kind, ManifestErrorKind::Limit);
}
