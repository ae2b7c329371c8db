//! What is wrong with the body of a block, and what only looks wrong.

use expect_test::expect;
use lcp_decoder::{DecodeOptions, decode};
use lcp_testkit::nested_tree;
use lcp_types::{Block, FileEntry, Lang, Role};

use crate::support::{bytes, check, frame, hi, nested, number, one, pack};

#[test]
fn numbers_must_fit_their_fields() {
    check(
        &one(2, &[number(1, 0x102), bytes(2, "hi")]),
        &expect![[r#"
        out_of_range: role must be at most 255, got 258 (block 0, byte 11)
    "#]],
    );
    let code = [number(1, 1), bytes(2, "a.rs"), bytes(3, "x")];
    let line = |id| one(1, &[&code[..], &[number(id, 1 << 32)]].concat());
    check(
        &line(4),
        &expect![[r#"
        out_of_range: line_start must be at most 4294967295, got 4294967296 (block 0, byte 25)
    "#]],
    );
    check(
        &line(5),
        &expect![[r#"
        out_of_range: line_end must be at most 4294967295, got 4294967296 (block 0, byte 25)
    "#]],
    );
    let kind = nested(2, &[bytes(1, "f"), number(2, 256), number(3, 0)]);
    check(
        &one(3, &[bytes(1, "/"), kind]),
        &expect![[r#"
        out_of_range: kind must be at most 255, got 256 (block 0, byte 22)
    "#]],
    );
    let hunk = nested(2, &[number(1, u64::MAX), number(2, 1), bytes(3, "")]);
    check(
        &one(7, &[bytes(1, "p"), hunk]),
        &expect![[r#"
        out_of_range: old_start must be at most 4294967295, got 18446744073709551615 (block 0, byte 18)
    "#]],
    );
}

#[test]
fn varints_in_bodies_must_fit_64_bits() {
    check(
        &one(2, &[b"\x01\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F".to_vec()]),
        &expect![[r#"
        bad_varint: varint does not fit in 64 bits (block 0, byte 13)
    "#]],
    );
    check(
        &one(2, &[number(1, 2), vec![0x80; 11]]),
        &expect![[r#"
        bad_varint: varint does not fit in 64 bits (block 0, byte 14)
    "#]],
    );
}

#[test]
fn known_fields_must_have_their_wire_type() {
    check(
        &one(2, &[bytes(1, "user"), bytes(2, "hi")]),
        &expect![[r#"
        wrong_wire_type: expected wire type 0 for role, got 1 (block 0, byte 11)
    "#]],
    );
    check(
        &one(2, &[number(1, 2), number(2, 7)]),
        &expect![[r#"
        wrong_wire_type: expected wire type 1 for content, got 0 (block 0, byte 14)
    "#]],
    );
    check(
        &one(2, &[number(1, 2), nested(2, &[])]),
        &expect![[r#"
        wrong_wire_type: expected wire type 1 for content, got 2 (block 0, byte 14)
    "#]],
    );
    check(
        &one(3, &[bytes(1, "/"), bytes(2, "f")]),
        &expect![[r#"
        wrong_wire_type: expected wire type 2 for entries, got 1 (block 0, byte 15)
    "#]],
    );
}

#[test]
fn unknown_wire_type_is_an_error() {
    let with = |field: &[u8]| one(2, &[number(1, 2), bytes(2, "hi"), field.to_vec()]);
    check(
        &with(b"\x09\x03\0"),
        &expect![[r#"
        unknown_wire_type: unknown wire type 3 (block 0, byte 19)
    "#]],
    );
    check(
        &with(b"\x02\x05\0"),
        &expect![[r#"
        unknown_wire_type: unknown wire type 5 (block 0, byte 19)
    "#]],
    );
    // 0x101 is no 1.
    check(
        &with(b"\x02\x81\x02\0"),
        &expect![[r#"
        unknown_wire_type: unknown wire type 257 (block 0, byte 19)
    "#]],
    );
}

#[test]
fn required_fields_must_be_present() {
    check(
        &one(1, &[]),
        &expect![[r#"
        missing_field: missing field lang in code (block 0, byte 11)
    "#]],
    );
    check(
        &one(1, &[number(1, 1), bytes(3, "x"), number(4, 1)]),
        &expect![[r#"
        missing_field: missing field path in code (block 0, byte 21)
    "#]],
    );
    let entry = nested(2, &[bytes(1, "f"), number(3, 0)]);
    check(
        &pack(&[hi(), frame(3, 0, [bytes(1, "/"), entry].concat())]),
        &expect![[r#"
        missing_field: missing field kind in FileEntry (block 1, byte 36)
    "#]],
    );
}

/// The message is that of the block's first missing field, for every type.
#[test]
fn empty_body_reports_the_first_missing_field() {
    let types = (1..=0x0A).chain([0xFE]);
    let errors: Vec<_> = types
        .map(|block_type| {
            decode(&one(block_type, &[]), DecodeOptions::default())
                .expect_err("no fields")
                .kind()
                .to_string()
        })
        .collect();
    let expected = [
        "missing field lang in code",
        "missing field role in conversation",
        "missing field root in file_tree",
        "missing field tool_name in tool_result",
        "missing field title in document",
        "missing field format in structured_data",
        "missing field path in diff",
        "missing field target_block_id in annotation",
        "missing field vector_id in embedding_ref",
        "missing field media_type in image",
        "missing field namespace in extension",
    ];
    assert_eq!(errors, expected);
}

#[test]
fn texts_must_be_utf8() {
    check(
        &one(1, &[number(1, 1), bytes(2, b"src/\xFF.rs"), bytes(3, "x")]),
        &expect![[r#"
        not_utf8: path is not UTF-8 (block 0, byte 21)
    "#]],
    );
    let call = bytes(3, b"\xC3");
    check(
        &one(2, &[number(1, 2), bytes(2, "hi"), call]),
        &expect![[r#"
        not_utf8: tool_call_id is not UTF-8 (block 0, byte 22)
    "#]],
    );
    let entry = nested(2, &[bytes(1, b"ok\x80"), number(2, 0), number(3, 0)]);
    check(
        &one(3, &[bytes(1, "/"), entry]),
        &expect![[r#"
        not_utf8: name is not UTF-8 (block 0, byte 23)
    "#]],
    );
    // A summary stands before the fields.
    let body = [b"\x04a\xE2\x82b".to_vec(), number(1, 2), bytes(2, "hi")].concat();
    check(
        &pack(&[hi(), frame(2, 1, body)]),
        &expect![[r#"
        not_utf8: summary is not UTF-8 (block 1, byte 24)
    "#]],
    );
}

#[test]
fn contents_may_be_any_bytes() {
    let pack = one(2, &[number(1, 2), bytes(2, b"\xFF\x00")]);
    let pack = decode(&pack, DecodeOptions::default()).expect("content is bytes");
    assert_eq!(pack.blocks, [Block::conversation(Role::User, &b"\xFF\0"[..])]);
}

#[test]
fn truncated_field_is_an_eof_error() {
    let with = |field: &[u8]| one(2, &[number(1, 2), bytes(2, "hi"), field.to_vec()]);
    check(
        &with(b"\x80"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 20)
        "#]],
    );
    check(
        &with(b"\x09"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 20)
        "#]],
    );
    check(
        &with(b"\x09\0"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 21)
        "#]],
    );
    check(
        &with(b"\x09\0\x80\x80"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 23)
        "#]],
    );
    check(
        &with(b"\x09\x01"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 1 (block 0, byte 21)
        "#]],
    );
    check(
        &with(b"\x09\x01\x05abc"),
        &expect![[r#"
            unexpected_eof: unexpected end of input in conversation, missing bytes: 2 (block 0, byte 25)
        "#]],
    );
    // A nested record ends where its length says, not where the body does.
    let name = b"\x01\x01\x05f".to_vec();
    check(
        &one(3, &[bytes(1, "/"), nested(2, &[name]), number(9, 9)]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in FileEntry, missing bytes: 4 (block 0, byte 22)
        "#]],
    );
}

#[test]
fn truncated_summary_is_an_eof_error() {
    check(
        &pack(&[frame(2, 1, b"")]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in summary, missing bytes: 1 (block 0, byte 11)
        "#]],
    );
    check(
        &pack(&[frame(2, 1, b"\x80")]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in summary, missing bytes: 1 (block 0, byte 12)
        "#]],
    );
    check(
        &pack(&[frame(2, 1, b"\x05abc")]),
        &expect![[r#"
            unexpected_eof: unexpected end of input in summary, missing bytes: 2 (block 0, byte 15)
        "#]],
    );
}

/// A FILE_TREE of nested directories, written by hand because the encoder
/// would refuse one that is too deep.
fn tree(levels: u32) -> Vec<u8> {
    let mut children = Vec::new();
    for level in (1..=levels).rev() {
        let id = if level == 1 { 2 } else { 4 };
        let name = bytes(1, format!("d{level}"));
        children = nested(id, &[name, number(2, 1), number(3, 0), children]);
    }
    one(3, &[bytes(1, "/"), children])
}

#[test]
fn trees_nest_at_most_64_levels() {
    let pack = tree(64);
    let pack = decode(&pack, DecodeOptions::default()).expect("as deep as it may be");
    assert_eq!(pack.blocks, [nested_tree(64)]);
    let too_deep = tree(65);
    let name = too_deep.windows(3).position(|window| window == b"d65").expect("the deepest");
    // Id, wire type and length of the entry, and of its name, stand before it.
    assert_eq!(name, 1024 + 6);
    check(
        &too_deep,
        &expect![[r#"
        too_large: input exceeds DEPTH_MAX: got 65, maximum 64 (block 0, byte 1024)
    "#]],
    );
    // Deeper ones are refused as early, without a stack that grows with them.
    let error = decode(&tree(5_000), DecodeOptions::default()).expect_err("too deep");
    assert_eq!((error.code(), error.is_limit()), ("too_large", true));
}

#[test]
fn fields_are_accepted_in_any_order() {
    let mixed =
        one(1, &[number(5, 9), bytes(3, "x"), number(4, 3), bytes(2, "a.rs"), number(1, 5)]);
    let pack = decode(&mixed, DecodeOptions::default()).expect("any order");
    assert_eq!(pack.blocks, [Block::code_lines(Lang::Go, "a.rs", "x", 3, 9)]);
}

#[test]
fn last_repeated_scalar_wins_and_records_accumulate() {
    let turn = one(2, &[number(1, 1), bytes(2, "a"), number(1, 2), bytes(2, "b")]);
    let pack = decode(&turn, DecodeOptions::default()).expect("repeated scalars");
    assert_eq!(pack.blocks, [Block::conversation(Role::User, "b")]);
    let entry = |name: &str| nested(2, &[bytes(1, name), number(2, 0), number(3, 1)]);
    let tree = one(3, &[entry("a"), bytes(1, "/"), entry("b")]);
    let pack = decode(&tree, DecodeOptions::default()).expect("a list");
    let entries = vec![FileEntry::file("a", 1), FileEntry::file("b", 1)];
    assert_eq!(pack.blocks, [Block::file_tree("/", entries)]);
}

/// A repeated scalar that is malformed is an error, even where a later one
/// would win.
#[test]
fn overridden_scalar_is_still_validated() {
    check(
        &one(2, &[number(1, 0x102), number(1, 2), bytes(2, "b")]),
        &expect![[r#"
        out_of_range: role must be at most 255, got 258 (block 0, byte 11)
    "#]],
    );
}
