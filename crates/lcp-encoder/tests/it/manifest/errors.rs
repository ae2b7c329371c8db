//! What is wrong with a manifest, and where.

use expect_test::expect;
use lcp_encoder::manifest::ManifestErrorKind;

use super::{check, check_block, check_kind};

#[test]
fn invalid_manifest_structure_is_an_error() {
    check(
        "",
        &expect![[r#"
        not valid JSON: EOF while parsing a value (line 1, column 0)
    "#]],
    );
    check(
        "{\"blocks\":[\n{\"type\":}]}",
        &expect![[r#"
        not valid JSON: expected value (line 2, column 9)
    "#]],
    );
    check(
        "{\"blocks\":[]} more",
        &expect![[r#"
        not valid JSON: trailing characters (line 1, column 15)
    "#]],
    );
    check(
        "[]",
        &expect![[r#"
        manifest must be an object
    "#]],
    );
    check(
        "{}",
        &expect![[r#"
        missing key `blocks`
    "#]],
    );
    check(
        r#"{"blocks":{}}"#,
        &expect![[r#"
        blocks: must be an array
    "#]],
    );
    check(
        r#"{"blocks":[],"version":1}"#,
        &expect![[r#"
        version: unknown key; expected one of: blocks
    "#]],
    );
    check(
        r#"{"blocks":["code"]}"#,
        &expect![[r#"
        blocks[0]: must be an object
    "#]],
    );
}

#[test]
fn excessive_json_nesting_is_an_error() {
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    check_kind(
        &deep(201),
        ManifestErrorKind::Limit,
        &expect![[r#"
        nesting exceeds MANIFEST_DEPTH_MAX (200)
    "#]],
    );
    // Deep enough to overflow a parser that recurses.
    check_kind(
        &deep(1_000_000),
        ManifestErrorKind::Limit,
        &expect![[r#"
        nesting exceeds MANIFEST_DEPTH_MAX (200)
    "#]],
    );
    check(
        &deep(200),
        &expect![[r#"
        manifest must be an object
    "#]],
    );
}

#[test]
fn missing_or_unknown_block_type_is_an_error() {
    check_block(
        r#"{"role":"user","content":""}"#,
        &expect![[r#"
        blocks[1]: missing key `type`
    "#]],
    );
    check_block(
        r#"{"type":"data","format":"json","content":""}"#,
        &expect![[r#"
        blocks[1].type: unknown value "data"; expected one of: code, conversation, file_tree, tool_result, document, structured_data, diff, annotation, embedding_ref, image, extension, raw
    "#]],
    );
    check_block(
        r#"{"type":1}"#,
        &expect![[r#"
        blocks[1].type: must be a string
    "#]],
    );
    check_block(
        r#"{"type":"end"}"#,
        &expect![[r#"
        blocks[1].type: unknown value "end"; expected one of: code, conversation, file_tree, tool_result, document, structured_data, diff, annotation, embedding_ref, image, extension, raw
    "#]],
    );
}

#[test]
fn unknown_keys_are_errors() {
    check_block(
        r#"{"type":"code","path":"a","content":"","language":"rust"}"#,
        &expect![[r#"
            blocks[1].language: unknown key; expected one of: lang, path, content, line_start, line_end, summary, priority, tags, levels, reserved_flags
        "#]],
    );
    check_block(
        r#"{"type":"diff","path":"a","hunks":[{"old_start":1,"new_start":1,"lines":"","old_lines":3}]}"#,
        &expect![[r#"
            blocks[1].hunks[0].old_lines: unknown key; expected one of: old_start, new_start, lines
        "#]],
    );
    check_block(
        r#"{"type":"file_tree","root":"/","entries":[{"name":"d","children":[{"name":"f","mode":7}]}]}"#,
        &expect![[r#"
            blocks[1].entries[0].children[0].mode: unknown key; expected one of: name, kind, size, children
        "#]],
    );
    check_block(
        r#"{"type":"raw","type_id":66,"body_base64":"","path":"a"}"#,
        &expect![[r#"
            blocks[1].path: unknown key; expected one of: type_id, body_base64, summary, priority, tags, levels, reserved_flags
        "#]],
    );
    // Only texts and bytes have other forms.
    check_block(
        r#"{"type":"conversation","role_base64":"user","content":""}"#,
        &expect![[r#"
            blocks[1].role_base64: unknown key; expected one of: role, content, tool_call_id, summary, priority, tags, levels, reserved_flags
        "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","line_start_file":3}"#,
        &expect![[r#"
            blocks[1].line_start_file: unknown key; expected one of: lang, path, content, line_start, line_end, summary, priority, tags, levels, reserved_flags
        "#]],
    );
    check_block(
        r#"{"type":"conversation","role":"user","role_base64":"user","content":""}"#,
        &expect![[r#"
            blocks[1].role_base64: unknown key; expected one of: role, content, tool_call_id, summary, priority, tags, levels, reserved_flags
        "#]],
    );
    check_block(
        r#"{"type":"diff","path":"a","hunks_base64":[]}"#,
        &expect![[r#"
            blocks[1].hunks_base64: unknown key; expected one of: path, hunks, summary, priority, tags, levels, reserved_flags
        "#]],
    );
}

#[test]
fn invalid_values_are_errors() {
    check_block(
        r#"{"type":"conversation","role":"robot","content":""}"#,
        &expect![[r#"
        blocks[1].role: unknown value "robot"; expected one of: system, user, assistant, tool
    "#]],
    );
    check_block(
        r#"{"type":"conversation","role":"user","content":"","priority":"urgent"}"#,
        &expect![[r#"
            blocks[1].priority: unknown value "urgent"; expected one of: critical, high, normal, low, background
        "#]],
    );
    check_block(
        r#"{"type":"conversation","role":256,"content":""}"#,
        &expect![[r#"
        blocks[1].role: must be an integer from 0 to 255
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","line_start":4294967296}"#,
        &expect![[r#"
        blocks[1].line_start: must be an integer from 0 to 4294967295
    "#]],
    );
    check_block(
        r#"{"type":"conversation","role":"user","content":"","reserved_flags":1}"#,
        &expect![[r#"
            blocks[1].reserved_flags: must contain only reserved bits
        "#]],
    );
}

#[test]
fn missing_keys_are_errors() {
    check_block(
        r#"{"type":"conversation","content":""}"#,
        &expect![[r#"
        blocks[1]: missing key `role`
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a"}"#,
        &expect![[r#"
        blocks[1]: missing key `content`
    "#]],
    );
    check_block(
        r#"{"type":"diff","path":"a","hunks":[{"old_start":1,"lines":""}]}"#,
        &expect![[r#"
        blocks[1].hunks[0]: missing key `new_start`
    "#]],
    );
    check_block(
        r#"{"type":"raw","body_base64":""}"#,
        &expect![[r#"
        blocks[1].type_id: must be a number
    "#]],
    );
    check_block(
        r#"{"type":"raw","type_id":66}"#,
        &expect![[r#"
        blocks[1]: missing key `body_base64`
    "#]],
    );
}

#[test]
fn wrong_json_types_are_errors() {
    check_block(
        r#"{"type":"code","path":1,"content":""}"#,
        &expect![[r#"
        blocks[1].path: must be a string
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":null}"#,
        &expect![[r#"
        blocks[1].content: must be a string
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","line_start":"3"}"#,
        &expect![[r#"
        blocks[1].line_start: must be an integer from 0 to 4294967295
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","line_start":-1}"#,
        &expect![[r#"
        blocks[1].line_start: must be an integer from 0 to 4294967295
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","line_start":1.0}"#,
        &expect![[r#"
        blocks[1].line_start: must be an integer from 0 to 4294967295
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","summary":1}"#,
        &expect![[r#"
        blocks[1].summary: must be a string
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","priority":1}"#,
        &expect![[r#"
        blocks[1].priority: must be a string
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","tags":"pinned"}"#,
        &expect![[r#"
        blocks[1].tags: must be an array
    "#]],
    );
    check_block(
        r#"{"type":"code","path":"a","content":"","tags":[1]}"#,
        &expect![[r#"
        blocks[1].tags: must be strings: "key=value" or "key"
    "#]],
    );
    check_block(
        r#"{"type":"diff","path":"a","hunks":{}}"#,
        &expect![[r#"
        blocks[1].hunks: must be an array
    "#]],
    );
    check_block(
        r#"{"type":"diff","path":"a","hunks":[1]}"#,
        &expect![[r#"
        blocks[1].hunks[0]: must be an object
    "#]],
    );
    check_block(
        r#"{"type":"raw","type_id":256,"body_base64":""}"#,
        &expect![[r#"
        blocks[1].type_id: must be an integer from 0 to 255
    "#]],
    );
    check_block(
        r#"{"type":"conversation","role":[],"content":""}"#,
        &expect![[r#"
        blocks[1].role: must be an integer from 0 to 255
    "#]],
    );
}
