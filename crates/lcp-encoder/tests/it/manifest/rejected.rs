//! What a manifest says twice, says in a form that it cannot have, or may not
//! say at all.

use expect_test::expect;
use lcp_encoder::manifest::ManifestErrorKind;

use super::{check_block, check_kind};

#[test]
fn conflicting_content_forms_are_errors() {
    check_block(
        r#"{"type":"code","path":"a","content":"","content_base64":""}"#,
        &expect![[r#"
        blocks[1].content_base64: conflicts with content
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content_base64":"","content_file":"f"}"#,
        &expect![[r#"
            blocks[1].content_file: conflicts with content_base64
        "#]],
    );
    check_block(
        r#"{"type":"raw","type_id":66,"body":"","body_base64":""}"#,
        &expect![[r#"
        blocks[1].body_base64: conflicts with body
    "#]],
    );
}

#[test]
fn invalid_base64_is_an_error() {
    check_block(
        r#"{"type":"code","path":"a","content_base64":"%%%"}"#,
        &expect![[r#"
        blocks[1].content_base64: invalid base64: Invalid symbol 37, offset 0.
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content_base64":"aGk"}"#,
        &expect![[r#"
        blocks[1].content_base64: invalid base64: Invalid padding
    "#]],
    );
    // A text is UTF-8 however it is given.
    check_block(
        r#"{"type":"code","path_base64":"/w==","content":""}"#,
        &expect![[r#"
        blocks[1].path_base64: must be UTF-8
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content_base64":5}"#,
        &expect![[r#"
        blocks[1].content_base64: must be a string
    "#]],
    );
}

#[test]
fn unreadable_content_file_is_an_io_error() {
    check_kind(
        r#"{"blocks":[{"type":"code","path":"a","content_file":"src/a.rs"}]}"#,
        ManifestErrorKind::Io,
        &expect![[r#"
            blocks[0].content_file: cannot read "src/a.rs": no such file
        "#]],
    );
}

#[test]
fn invalid_unknown_fields_are_errors() {
    let with = |field: &str| {
        format!(
            r#"{{"type":"conversation","role":"user","content":"","unknown_fields":[{field}]}}"#
        )
    };
    check_block(
        &with(r#"{"varint":1}"#),
        &expect![[r#"
        blocks[1].unknown_fields[0].id: must be a number
    "#]],
    );
    check_block(
        &with(r#"{"id":9}"#),
        &expect![[r#"
        blocks[1].unknown_fields[0]: missing key `varint`, `bytes_base64` or `nested_base64`
    "#]],
    );
    check_block(
        &with(r#"{"id":9,"varint":-1}"#),
        &expect![[r#"
        blocks[1].unknown_fields[0].varint: must be a number
    "#]],
    );
    check_block(
        &with(r#"{"id":9,"varint":1,"bytes_base64":""}"#),
        &expect![[r#"
        blocks[1].unknown_fields[0].bytes_base64: unknown key; expected one of: id, varint, bytes_base64, nested_base64
    "#]],
    );
    check_block(
        &with(r#"{"id":9,"bytes_base64":"%"}"#),
        &expect![[r#"
        blocks[1].unknown_fields[0].bytes_base64: invalid base64: Invalid symbol 37, offset 0.
    "#]],
    );
    check_block(
        &with(r#"{"id":2,"varint":1}"#),
        &expect![[r#"
        blocks[1]: cannot write field 2 of Conversation as unknown: it is a known field
    "#]],
    );
    check_block(
        &with("9"),
        &expect![[r#"
        blocks[1].unknown_fields[0]: must be an object
    "#]],
    );
    check_block(
        r#"{"type":"raw","type_id":66,"body_base64":"","unknown_fields":[]}"#,
        &expect![[r#"
            blocks[1].unknown_fields: unknown key; expected one of: type_id, body_base64, summary, priority, tags, levels, reserved_flags
        "#]],
    );
}

#[test]
fn mixing_annotation_blocks_and_keys_is_an_error() {
    let annotation = r#"{"type":"annotation","target_block_id":0,"kind":"tag","value":"a"}"#;
    check_block(
        &format!(r#"{annotation},{{"type":"code","path":"a","content":"","priority":"low"}}"#),
        &expect![[r#"
            blocks[2]: priority, tags and levels cannot be used in a manifest with annotation blocks; write them as blocks too
        "#]],
    );
    check_block(
        &format!(r#"{{"type":"code","path":"a","content":"","tags":["a"]}},{annotation}"#),
        &expect![[r#"
            blocks[1]: priority, tags and levels cannot be used in a manifest with annotation blocks; write them as blocks too
        "#]],
    );
}

#[test]
fn format_violations_are_errors() {
    check_block(
        r#"{"type":"raw","type_id":1,"body_base64":""}"#,
        &expect![[r#"
        blocks[1]: raw block must have an unknown type, but 0x01 is code
    "#]],
    );
    let long = "a".repeat((1 << 20) + 1);
    check_kind(
        &format!(r#"{{"blocks":[{{"type":"code","path":"{long}","content":""}}]}}"#),
        ManifestErrorKind::Limit,
        &expect![[r#"
            blocks[0]: path exceeds TEXT_BYTES_MAX: got 1048577, maximum 1048576
        "#]],
    );
}
