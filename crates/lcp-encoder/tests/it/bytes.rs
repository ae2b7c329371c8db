//! Exact bytes: the vectors of RFC 0001, headers, and the order of fields.

use lcp_encoder::{EncodeOptions, Magic, encode};
use lcp_testkit::hex;
use lcp_types::{
    Annotation, Block, BlockContent, DiffHunk, FileEntry, Lang, Priority, Role, UnknownField,
    UnknownValue,
};

/// Checks the frames of `blocks`, header and END left out.
#[track_caller]
fn check(blocks: &[Block<'_>], digits: &str) {
    let options = EncodeOptions { index: false, ..EncodeOptions::default() };
    let pack = encode(blocks, options).expect("within the limits");
    let expected = hex(&format!("4c43500001000000 {digits} ff010000"));
    assert_eq!(pack, expected);
}

#[test]
fn rfc_vector_1_encodes_code_and_priority() {
    check(
        &[
            Block::code(Lang::Rust, "t.rs", "// x"),
            Block::new(Annotation::priority(0, Priority::High)),
        ],
        "010011 010001 020104742e7273 0301042f2f2078 08000a 010000 020001 03010102",
    );
}

#[test]
fn rfc_vector_2_encodes_summary_turn_tree_and_diff() {
    let tree = vec![FileEntry::directory("d", vec![FileEntry::file("f", 3)])];
    check(
        &[
            Block::code(Lang::Rust, "t.rs", "// x").with_summary("S"),
            Block::conversation_with_call(Role::User, "hi", "c1"),
            Block::file_tree("/", tree),
            Block::diff("p", vec![DiffHunk::new(1, 2, "+a\n")]),
        ],
        "010113 0153 010001 020104742e7273 0301042f2f2078
         02000d 010002 0201026869 0301026331
         03001e 0101012f 020217 01010164 020001 030000 04020a 01010166 020000 030003
         070013 01010170 02020c 010001 020002 0301032b610a",
    );
}

#[test]
fn empty_pack_is_header_and_end() {
    check(&[], "");
}

#[test]
fn bcp_magic_is_written_on_request() {
    let options = EncodeOptions { magic: Magic::Bcp, ..EncodeOptions::default() };
    let pack = encode(&[], options).expect("within the limits");
    assert_eq!(pack, hex("4243500001000000 ff010000"));
}

/// Types from 0x80 on take two bytes, and so do lengths.
#[test]
fn varints_are_minimal() {
    check(&[Block::raw(0x7F, ""), Block::raw(0x80, "")], "7f0000 80010000");
    let body = vec![b'a'; 300];
    check(&[Block::raw(0x42, body)], &format!("4200ac02 {}", "61".repeat(300)));
    let tag = Annotation { target_block_id: u64::MAX, ..Annotation::summary(0, "") };
    check(&[Block::new(tag)], "080012 0100ffffffffffffffffff01 020002 030100");
}

#[test]
fn reserved_block_flags_are_written() {
    let mut block = Block::raw(0x42, "b").with_summary("");
    block.reserved_flags = 0b1010_1000;
    check(&[block], "42a902 00 62");
}

/// Whatever order they were given in: ids ascend, the same id keeps its order,
/// and none is left out, the largest included.
#[test]
fn unknown_fields_are_written_in_id_order() {
    let field = |id, value| UnknownField { id, value };
    let mut block = Block::conversation_with_call(Role::User, "hi", "c1");
    let BlockContent::Conversation(turn) = &mut block.content else {
        panic!("{block:?}");
    };
    turn.unknown = vec![
        field(u64::MAX, UnknownValue::Varint(5)),
        field(9, UnknownValue::Nested("x".into())),
        field(0, UnknownValue::Varint(7)),
        field(9, UnknownValue::Bytes("y".into())),
    ]
    .into();
    check(
        &[block],
        "020024 000007 010002 0201026869 0301026331 09020178 09010179
         ffffffffffffffffff010005",
    );
}
