//! `validate --full` (RFC 0003 §5): what stands behind the blocks.

use lcp_app::validate::validate;
use lcp_driver::IndexCosts;
use lcp_encoder::{Compression, EncodeOptions, PackWriter, encode, encode_with_costs};
use lcp_packfile::Report;
use lcp_testkit::any_pack;
use lcp_tokens::{Encoding, Tiktoken};
use lcp_types::{
    Annotation, Block, CarriedLevel, EncodingCosts, FormatHint, Lang, MemoryContentStore, Priority,
    Role,
};
use proptest::prelude::*;
use serde_json::Value;

use crate::command::{run, run_with, stderr};

fn small() -> Vec<Block<'static>> {
    vec![
        Block::conversation(Role::User, "first"),
        Block::code(Lang::Rust, "a.rs", "fn a() {}").with_summary("a"),
        Block::new(Annotation::priority(1, Priority::High)),
        Block::new(CarriedLevel::Detailed.to_extension(1, "fn a()")),
    ]
}

fn costs(blocks: &[Block<'_>]) -> EncodingCosts {
    IndexCosts::new(&Tiktoken::new(Encoding::O200kBase)).count(blocks).unwrap()
}

fn check_full(pack: &[u8]) -> Report {
    validate(pack, true)
}

fn codes(found: &Report) -> Vec<&'static str> {
    found.problems.iter().map(|problem| problem.code).collect()
}

fn notes(found: &Report) -> Vec<&'static str> {
    found.notes.iter().map(|note| note.code).collect()
}

/// Neither a bit nor an end that is missing is overlooked.
#[test]
fn full_validation_detects_every_bit_flip_and_truncation() {
    let blocks = small();
    for compression in [Compression::None, Compression::Block] {
        let options = EncodeOptions { compression, ..EncodeOptions::default() };
        let mut pack = encode_with_costs(&blocks, options, &[costs(&blocks)]).unwrap();
        let found = check_full(&pack);
        assert_eq!((codes(&found), notes(&found)), (vec![], vec![]));
        for bit in 0..pack.len() * 8 {
            pack[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(check_full(&pack).problems, [], "bit {bit}");
            pack[bit / 8] ^= 1 << (bit % 8);
        }
        for len in 0..pack.len() {
            assert_ne!(check_full(&pack[..len]).problems, [], "{len} bytes");
        }
        assert_ne!(check_full(&[&pack[..], b"!"].concat()).problems, []);
    }
}

proptest! {
    #[test]
    fn full_validation_of_encoded_pack_finds_no_extra_problems(blocks in any_pack(), is_compressed in any::<bool>()) {
        let compression = if is_compressed { Compression::Block } else { Compression::None };
        let options = EncodeOptions { compression, ..EncodeOptions::default() };
        let pack = encode_with_costs(&blocks, options, &[costs(&blocks)]).unwrap();
        prop_assert_eq!(codes(&check_full(&pack)), codes(&validate(&pack, false)));
    }
}

#[test]
fn full_validation_recounts_costs() {
    let blocks = small();
    let with = |costs: EncodingCosts| {
        encode_with_costs(&blocks, EncodeOptions::default(), &[costs]).unwrap()
    };
    let mut lies = [costs(&blocks), costs(&blocks), costs(&blocks), costs(&blocks)];
    lies[0].contents[0] += 1;
    lies[1].joins[0] ^= 2;
    lies[2].modes[0].line[1] += 1;
    lies[3].modes[1].levels.pop();
    for lie in lies {
        assert_eq!(codes(&check_full(&with(lie))), ["bad_index"]);
    }
    let foreign = EncodingCosts { encoding: "other".into(), ..costs(&blocks) };
    let older = EncodingCosts { revision: 0, ..costs(&blocks) };
    for unknown in [foreign, older] {
        let found = check_full(&with(unknown));
        assert_eq!((codes(&found), notes(&found)), (vec![], vec!["costs_unchecked"]));
    }
    // Of a mode that is unknown here nothing is known.
    let mut newer = costs(&blocks);
    newer.modes[0].mode = "other".into();
    assert_eq!(codes(&check_full(&with(newer))), [""; 0]);
}

#[test]
fn unverifiable_parts_give_a_note() {
    let plain = EncodeOptions { index: false, ..EncodeOptions::default() };
    let found = check_full(&encode(&small(), plain).unwrap());
    assert_eq!((codes(&found), notes(&found)), (vec![], vec!["no_trailer"]));
    let mut builder = PackWriter::default();
    let block = Block::document("", "elsewhere", FormatHint::Plain);
    builder.add_reference(&block, &mut MemoryContentStore::default()).unwrap();
    let costs = costs(&[block]);
    let found = check_full(&builder.into_bytes(&[costs]).unwrap());
    assert_eq!((codes(&found), notes(&found)), (vec![], vec!["no_store", "costs_unchecked"]));
}

#[test]
fn full_flag_reports_bad_checksum_with_its_block() {
    let mut pack = encode(&small(), EncodeOptions::default()).unwrap();
    let at = pack.iter().position(|byte| *byte == b'f').unwrap();
    pack[at] = b'F';
    // The blocks can be read, and what stands behind them is not asked for.
    assert!(run_with(&["validate", "-"], &pack).status.success());
    let output = run_with(&["validate", "-", "--full", "--json"], &pack);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = found["packs"][0]["problems"].as_array().unwrap();
    let told: Vec<_> = problems.iter().map(|of| (&of["code"], &of["block"])).collect();
    let code = Value::from("bad_checksum");
    assert_eq!(told, [(&code, &Value::Null), (&code, &Value::from(0))]);
    let help = String::from_utf8(run(&["validate", "--help"]).stdout).unwrap();
    assert!(help.contains("--full"), "{help}");
}
