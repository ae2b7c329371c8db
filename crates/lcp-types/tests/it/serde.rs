//! Serialization: every block survives a format for people (JSON) and one that
//! is not self-describing (bincode 2).

use lcp_testkit::{any_block, any_pack, nested_tree};
use lcp_types::{
    Annotation, Block, BlockType, DataFormat, FileEntryKind, Lang, Priority, Role, Tag,
    UnknownField, UnknownValue,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Without a limit bincode allocates whatever a length says.
const BINCODE: bincode::config::Configuration<
    bincode::config::LittleEndian,
    bincode::config::Varint,
    bincode::config::Limit<{ 1 << 24 }>,
> = bincode::config::standard().with_limit::<{ 1 << 24 }>();

fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let json = serde_json::to_string(value).expect("every value has a JSON form");
    let mut reader = serde_json::Deserializer::from_str(&json);
    reader.disable_recursion_limit();
    T::deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn through_bincode<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let bytes = bincode::serde::encode_to_vec(value, BINCODE).expect("within the limit");
    let (back, read) = bincode::serde::decode_from_slice(&bytes, BINCODE).expect("as written");
    assert_eq!(read, bytes.len(), "all of it was read");
    back
}

#[track_caller]
fn check<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(&through_json(value), value, "through JSON");
    assert_eq!(&through_bincode(value), value, "through bincode");
}

proptest! {
    #[test]
    fn any_block_round_trips(block in any_block()) {
        prop_assert_eq!(&through_json(&block), &block);
        prop_assert_eq!(&through_bincode(&block), &block);
    }

    #[test]
    fn any_pack_round_trips(pack in any_pack()) {
        prop_assert_eq!(&through_json(&pack), &pack);
        prop_assert_eq!(&through_bincode(&pack), &pack);
    }

    #[test]
    fn any_tag_round_trips(text in any::<String>()) {
        let tag = Tag::parse(&text);
        prop_assert_eq!(&through_json(&tag), &tag);
        prop_assert_eq!(&through_bincode(&tag), &tag);
    }
}

#[test]
fn deepest_tree_round_trips() {
    check(&nested_tree(64));
}

#[test]
fn every_table_value_round_trips() {
    for code in 0..=u8::MAX {
        check(&BlockType::from_code(code));
        check(&Lang::from_code(code));
        check(&Role::from_code(code));
        check(&DataFormat::from_code(code));
        check(&FileEntryKind::from_code(code));
    }
    for priority in Priority::ALL {
        check(&priority);
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("every value has a JSON form")
}

#[test]
fn json_shows_names_and_text() {
    let block = Block::code_lines(Lang::Rust, "a.rs", "fn a() {}", 3, 9).with_summary("a");
    assert_eq!(
        json(&block),
        r#"{"summary":"a","content":{"code":{"lang":"rust","path":"a.rs","content":"fn a() {}","line_start":3,"line_end":9,"unknown":[]}},"reserved_flags":0}"#,
    );
    let tag = Annotation::tag(2, &Tag::from_key("pinned"));
    assert_eq!(json(&tag), r#"{"target_block_id":2,"kind":"tag","value":"pinned","unknown":[]}"#,);
    assert_eq!(json(&Priority::Background), r#""background""#);
    assert_eq!(json(&BlockType::StructuredData), r#""structured_data""#);
    assert_eq!(json(&BlockType::Other(0x42)), r#"{"other":66}"#);
}

#[test]
fn json_falls_back_to_numbers() {
    assert_eq!(json(&Lang::Other(0x42)), "66");
    let raw = Block::raw(0x42, vec![0xFF, 0x00]);
    assert_eq!(
        json(&raw),
        r#"{"summary":null,"content":{"raw":{"type_id":66,"body":[255,0]}},"reserved_flags":0}"#,
    );
    let field = UnknownField { id: 9, value: UnknownValue::Varint(u64::MAX) };
    assert_eq!(json(&field), r#"{"id":9,"value":{"varint":18446744073709551615}}"#);
}

#[test]
fn binary_format_uses_codes() {
    let bytes = bincode::serde::encode_to_vec(Lang::Unknown, BINCODE).expect("one byte");
    assert_eq!(bytes, [0xFF]);
}

#[test]
fn json_accepts_a_code_instead_of_a_name() {
    assert_eq!(serde_json::from_str::<Lang>("4").expect("a code"), Lang::Python);
}

#[test]
fn invalid_value_error_names_the_type() {
    let error = |json| serde_json::from_str::<Role>(json).expect_err("no role").to_string();
    let expected = "the name or the code of a Role";
    assert_eq!(
        error(r#""robot""#),
        format!(r#"invalid value: string "robot", expected {expected} at line 1 column 7"#),
    );
    assert_eq!(
        error("256"),
        format!("invalid value: integer `256`, expected {expected} at line 1 column 3"),
    );
    assert_eq!(
        error("null"),
        format!("invalid type: null, expected {expected} at line 1 column 4"),
    );
    let bytes = serde_json::from_str::<lcp_types::CowBytes<'_>>("true").expect_err("no bytes");
    assert!(bytes.to_string().contains("expected a string or bytes"), "{bytes}");
}
