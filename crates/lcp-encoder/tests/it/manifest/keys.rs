//! Every key of a manifest, and what becomes of it.

use std::{io, slice};

use lcp_decoder::{DecodeOptions, decode};
use lcp_encoder::EncodeOptions;
use lcp_encoder::manifest::{Manifest, to_json};
use lcp_types::{
    AlternateText, Annotation, AnnotationKind, Block, BlockContent, CarriedLevel, DataFormat,
    DiffHunk, FileEntry, FileEntryKind, FormatHint, Lang, MediaType, Priority, Role, Status, Tag,
    UnknownField, UnknownValue,
};

use super::parse;

/// The block of a manifest that has one.
#[track_caller]
fn block(json: &str) -> Block<'static> {
    let manifest = parse(&format!(r#"{{"blocks":[{json}]}}"#)).expect("a good manifest");
    let [entry] = &manifest.entries[..] else {
        panic!("{manifest:?}");
    };
    assert_eq!((entry.priority, &entry.tags), (None, &vec![]));
    entry.block.clone()
}

/// Checks that JSON means a block, and that the block is printed as that JSON.
#[track_caller]
fn check(json: &str, expected: &Block<'_>) {
    assert_eq!(&block(json), expected);
    assert_eq!(to_json(slice::from_ref(expected)), format!("{{\"blocks\":[\n{json}\n]}}\n"));
}

#[test]
fn conversation_and_tool_result_keys_round_trip() {
    check(
        r#"{"type":"conversation","role":"user","content":"hi\n"}"#,
        &Block::conversation(Role::User, "hi\n"),
    );
    check(
        r#"{"type":"conversation","summary":"S","role":"tool","content":"42","tool_call_id":"c1"}"#,
        &Block::conversation_with_call(Role::Tool, "42", "c1").with_summary("S"),
    );
    let mut result = Block::tool_result("rg", Status::Timeout, "");
    if let BlockContent::ToolResult(result) = &mut result.content {
        result.schema_hint = Some("lines".into());
    }
    check(
        r#"{"type":"tool_result","tool_name":"rg","status":"timeout","content":"","schema_hint":"lines"}"#,
        &result,
    );
}

#[test]
fn languages_without_a_code_become_tags() {
    for lang in Tag::LANGS {
        let json =
            format!(r#"{{"blocks":[{{"type":"code","lang":"{lang}","path":"a","content":"x"}}]}}"#);
        let mut load = |_: &str| panic!("no files");
        let pack = Manifest::parse(json.as_bytes(), &mut load).unwrap();
        let pack = pack.to_pack(EncodeOptions::default()).unwrap();
        let blocks = decode(&pack, DecodeOptions::default()).unwrap().blocks;
        let tag = Annotation::tag(0, &Tag::new("lang", lang));
        assert_eq!(blocks, [Block::code(Lang::Unknown, "a", "x"), Block::new(tag)]);
    }
}

#[test]
fn code_diff_and_tree_keys_round_trip() {
    check(
        r#"{"type":"code","lang":"rust","path":"a.rs","content":"fn a() {}","line_start":3,"line_end":9}"#,
        &Block::code_lines(Lang::Rust, "a.rs", "fn a() {}", 3, 9),
    );
    check(
        r#"{"type":"diff","path":"a.rs","hunks":[{"old_start":1,"new_start":2,"lines":"+a\n"}]}"#,
        &Block::diff("a.rs", vec![DiffHunk::new(1, 2, "+a\n")]),
    );
    let mut odd = FileEntry::file("odd", u64::MAX);
    odd.kind = FileEntryKind::Other(7);
    check(
        r#"{"type":"file_tree","root":"/","entries":[{"name":"d","kind":"directory","size":0,"children":[{"name":"f","kind":"file","size":3}]},{"name":"odd","kind":7,"size":18446744073709551615}]}"#,
        &Block::file_tree("/", vec![FileEntry::directory("d", vec![FileEntry::file("f", 3)]), odd]),
    );
}

#[test]
fn document_data_and_media_keys_round_trip() {
    check(
        r##"{"type":"document","title":"T","content":"# T","format_hint":"markdown"}"##,
        &Block::document("T", "# T", FormatHint::Markdown),
    );
    let mut data = Block::structured_data(DataFormat::Csv, "a,b");
    if let BlockContent::StructuredData(data) = &mut data.content {
        data.schema = Some("table".into());
    }
    check(r#"{"type":"structured_data","format":"csv","schema":"table","content":"a,b"}"#, &data);
    check(
        r#"{"type":"embedding_ref","vector_id":"v1","source_hash_base64":"/w==","model":"m"}"#,
        &Block::embedding_ref("v1", vec![0xFF], "m"),
    );
    check(
        r#"{"type":"image","media_type":"png","alt_text":"a cat","data_base64":"iVBORw=="}"#,
        &Block::image(MediaType::Png, "a cat", &b"\x89PNG"[..]),
    );
    check(
        r#"{"type":"extension","namespace":"acme","type_name":"t","content":"x"}"#,
        &Block::extension("acme", "t", "x"),
    );
}

#[test]
fn annotation_keys_round_trip() {
    check(
        r#"{"type":"annotation","target_block_id":0,"kind":"priority","value":"\u0002"}"#,
        &Block::new(Annotation::priority(0, Priority::High)),
    );
    let json =
        r#"{"type":"annotation","target_block_id":0,"kind":"priority","value_base64":"Ag=="}"#;
    assert_eq!(block(json), Block::new(Annotation::priority(0, Priority::High)));
    check(
        r#"{"type":"annotation","target_block_id":7,"kind":"tag","value":"rank=0.83"}"#,
        &Block::new(Annotation::tag(7, &Tag::new("rank", "0.83"))),
    );
    let mut other = Annotation::summary(1, "x");
    other.kind = AnnotationKind::Other(9);
    check(r#"{"type":"annotation","target_block_id":1,"kind":9,"value":"x"}"#, &Block::new(other));
}

#[test]
fn unknown_types_and_fields_round_trip() {
    let mut raw = Block::raw(66, "hi").with_summary("S");
    raw.reserved_flags = 0x80;
    check(
        r#"{"type":"raw","reserved_flags":128,"summary":"S","type_id":66,"body_base64":"aGk="}"#,
        &raw,
    );
    let mut turn = Block::conversation(Role::Other(0x42), "");
    if let BlockContent::Conversation(turn) = &mut turn.content {
        let field = |id, value| UnknownField { id, value };
        turn.unknown = vec![
            field(9, UnknownValue::Varint(5)),
            field(10, UnknownValue::Bytes("hi".into())),
            field(10, UnknownValue::Nested(vec![].into())),
        ]
        .into();
    }
    check(
        r#"{"type":"conversation","unknown_fields":[{"id":9,"varint":5},{"id":10,"bytes_base64":"aGk="},{"id":10,"nested_base64":""}],"role":66,"content":""}"#,
        &turn,
    );
}

#[test]
fn optional_keys_have_defaults() {
    let rows = [
        (r#"{"type":"code","path":"a","content":""}"#, Block::code(Lang::Unknown, "a", "")),
        (
            r#"{"type":"tool_result","tool_name":"rg","content":""}"#,
            Block::tool_result("rg", Status::Ok, ""),
        ),
        (
            r#"{"type":"document","title":"T","content":""}"#,
            Block::document("T", "", FormatHint::Plain),
        ),
        (
            r#"{"type":"file_tree","root":"/","entries":[{"name":"f"},{"name":"d","children":[]}]}"#,
            Block::file_tree("/", vec![FileEntry::file("f", 0), FileEntry::directory("d", vec![])]),
        ),
        (r#"{"type":"diff","path":"p"}"#, Block::diff("p", vec![])),
    ];
    for (json, expected) in rows {
        assert_eq!(block(json), expected);
    }
}

#[test]
fn enum_values_accept_numbers() {
    let json = r#"{"type":"conversation","role":2,"content":""}"#;
    assert_eq!(block(json), Block::conversation(Role::User, ""));
}

#[test]
fn content_is_read_from_text_base64_or_file() {
    let mut asked = Vec::new();
    let mut load = |path: &str| {
        asked.push(path.to_owned());
        Ok(b"\xFFfile".to_vec())
    };
    let json = r#"{"blocks":[
        {"type":"code","path":"a","content":"text"},
        {"type":"code","path":"b","content_base64":"/2I2NA=="},
        {"type":"code","path":"c","content_file":"src/c.rs"},
        {"type":"image","media_type":"png","alt_text":"","data_file":"c.png"},
        {"type":"diff","path":"p","hunks":[{"old_start":1,"new_start":1,"lines_file":"h"}]},
        {"type":"raw","type_id":66,"body_file":"body"}
    ]}"#;
    let manifest = Manifest::parse(json.as_bytes(), &mut load).expect("a good manifest");
    let file = || &b"\xFFfile"[..];
    let expected = [
        Block::code(Lang::Unknown, "a", "text"),
        Block::code(Lang::Unknown, "b", &b"\xFFb64"[..]),
        Block::code(Lang::Unknown, "c", file()),
        Block::image(MediaType::Png, "", file()),
        Block::diff("p", vec![DiffHunk::new(1, 1, file())]),
        Block::raw(66, file()),
    ];
    let blocks: Vec<_> = manifest.entries.into_iter().map(|entry| entry.block).collect();
    assert_eq!(blocks, expected);
    assert_eq!(asked, ["src/c.rs", "c.png", "h", "body"]);
}

#[test]
fn priority_and_tags_follow_their_block_as_annotations() {
    let json = r#"{"blocks":[
        {"type":"conversation","role":"user","content":"a","priority":"critical"},
        {"type":"conversation","role":"user","content":"b"},
        {"type":"conversation","role":"user","content":"c","priority":"low","tags":["rank=1","pinned"]}
    ]}"#;
    let manifest = parse(json).expect("a good manifest");
    assert_eq!(manifest.entries[2].priority, Some(Priority::Low));
    assert_eq!(manifest.entries[2].tags, [Tag::new("rank", "1"), Tag::from_key("pinned")]);
    let bytes = manifest.to_pack(EncodeOptions::default()).expect("within the limits");
    let pack = decode(&bytes, DecodeOptions::default()).expect("as written");
    let turn = |content: &'static str| Block::conversation(Role::User, content);
    let expected = [
        turn("a"),
        Block::new(Annotation::priority(0, Priority::Critical)),
        turn("b"),
        turn("c"),
        Block::new(Annotation::priority(3, Priority::Low)),
        Block::new(Annotation::tag(3, &Tag::new("rank", "1"))),
        Block::new(Annotation::tag(3, &Tag::from_key("pinned"))),
    ];
    assert_eq!(pack.blocks, expected);
    // Printed, they are blocks, and encode to the same bytes.
    let printed = parse(&to_json(&pack.blocks)).expect("as printed");
    assert_eq!(printed.to_pack(EncodeOptions::default()), Ok(bytes));
}

#[test]
fn levels_follow_their_block_as_extensions() {
    let json = r#"{"blocks":[
        {"type":"conversation","role":"user","content":"a"},
        {"type":"conversation","role":"user","content":"b","tags":["rank=1"],"levels":{"detailed":"D","tags":"t"}}
    ]}"#;
    let bytes = parse(json).unwrap().to_pack(EncodeOptions::default()).unwrap();
    let pack = decode(&bytes, DecodeOptions::default()).unwrap();
    let read = |block: &Block<'_>| {
        let level = block.as_extension().and_then(AlternateText::from_extension)?.unwrap();
        Some((level.target, level.level, level.text.into_owned()))
    };
    let levels: Vec<_> = pack.blocks.iter().map(read).collect();
    let expected = [
        None,
        None,
        None,
        Some((1, CarriedLevel::Detailed, "D".to_owned())),
        Some((1, CarriedLevel::Tags, "t".to_owned())),
    ];
    assert_eq!(levels, expected);
}

#[test]
fn invalid_levels_are_errors() {
    let entry = |levels: &str| {
        let block = r#"{"type":"conversation","role":"user","content":"a","levels":"#;
        parse(&format!(r#"{{"blocks":[{block}{levels}}}]}}"#)).unwrap_err().to_string()
    };
    let unknown = "blocks[0].levels.brief: unknown key; expected one of: detailed, tags";
    assert_eq!(entry(r#"{"brief":"x"}"#), unknown);
    assert_eq!(entry(r#"{"tags":["x"]}"#), "blocks[0].levels.tags: must be a string");
    assert_eq!(entry("7"), "blocks[0].levels: must be an object");
}

/// Brackets and quotes within strings are not nesting.
#[test]
fn brackets_in_strings_are_not_nesting() {
    let content = "\"\\".to_owned() + &"[{".repeat(500) + "\\\"";
    let expected = Block::conversation(Role::User, content);
    let json = to_json(slice::from_ref(&expected));
    assert_eq!(parse(&json).expect("as printed").entries[0].block, expected);
}

#[test]
fn empty_manifest_is_valid() {
    assert_eq!(to_json(&[]), "{\"blocks\":[\n]}\n");
    assert_eq!(parse("{\"blocks\":[]}"), Ok(Manifest::default()));
}

#[test]
fn missing_content_file_is_loaded_once_and_reported() {
    let mut asked = 0;
    let mut load = |_: &str| {
        asked += 1;
        Err(io::Error::new(io::ErrorKind::NotFound, "no such file"))
    };
    let json = r#"{"blocks":[{"type":"code","path":"a","content_file":"gone.rs"}]}"#;
    let error = Manifest::parse(json.as_bytes(), &mut load).expect_err("it is gone");
    assert_eq!(error.to_string(), r#"blocks[0].content_file: cannot read "gone.rs": no such file"#,);
    assert_eq!(asked, 1);
}
