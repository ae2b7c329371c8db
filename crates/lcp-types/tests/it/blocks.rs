//! Blocks, their content and the store.

use std::borrow::Cow;

use lcp_testkit::any_block;
use lcp_types::{
    Annotation, Block, BlockContent, BlockType, ContentStore, CowBytes, DataFormat, DiffHunk,
    FileEntry, FormatHint, Lang, MediaType, MemoryContentStore, Priority, Role, Status, StoreError,
};
use proptest::prelude::*;

/// One block of every type, by its constructor.
fn one_of_each() -> Vec<Block<'static>> {
    vec![
        Block::code(Lang::Rust, "a.rs", "fn a() {}"),
        Block::conversation(Role::User, "hi"),
        Block::file_tree("/", vec![FileEntry::file("f", 3)]),
        Block::tool_result("rg", Status::Ok, "1 match"),
        Block::document("title", "text", FormatHint::Plain),
        Block::structured_data(DataFormat::Json, "{}"),
        Block::diff("a.rs", vec![DiffHunk::new(1, 2, "+a\n")]),
        Block::new(Annotation::priority(0, Priority::Low)),
        Block::embedding_ref("v1", &[1, 2][..], "model"),
        Block::image(MediaType::Png, "a cat", &b"\x89PNG"[..]),
        Block::extension("lcp", "detail", "body"),
    ]
}

#[test]
fn constructors_create_their_block_type() {
    let types: Vec<_> = one_of_each().iter().map(Block::block_type).collect();
    assert_eq!(types, BlockType::ALL);
    assert_eq!(Block::raw(0x42, "x").block_type(), BlockType::Other(0x42));
    for block in one_of_each() {
        assert_eq!((&block.summary, block.reserved_flags), (&None, 0));
        let annotation = block.block_type() == BlockType::Annotation;
        assert_eq!(block.as_annotation().is_some(), annotation);
    }
}

#[test]
fn constructors_set_optional_fields_and_defaults() {
    let BlockContent::Code(code) = Block::code_lines(Lang::Go, "a.go", "x", 3, 9).content else {
        panic!("code_lines makes CODE");
    };
    assert_eq!((code.line_start, code.line_end), (Some(3), Some(9)));
    let turn = Block::conversation_with_call(Role::Tool, "42", "c1");
    let BlockContent::Conversation(turn) = turn.content else {
        panic!("conversation_with_call makes CONVERSATION");
    };
    assert_eq!(turn.tool_call_id.as_deref(), Some("c1"));
    let directory = FileEntry::directory("d", vec![FileEntry::file("f", 3)]);
    assert_eq!((directory.kind.code(), directory.size), (1, 0));
    assert_eq!((directory.children[0].kind.code(), directory.children[0].size), (0, 3));
    let block = Block::raw(0x42, "x").with_summary("a").with_summary("b");
    assert_eq!(block.summary.as_deref(), Some("b"));
}

#[test]
fn content_is_borrowed_until_into_owned() {
    let text = String::from("fn a() {}");
    let block = Block::code(Lang::Rust, "a.rs", text.as_str());
    let is_borrowed = |block: &Block<'_>| match &block.content {
        BlockContent::Code(code) => code.content.is_borrowed(),
        other => panic!("{other:?}"),
    };
    assert!(is_borrowed(&block));
    let owned: Block<'static> = block.clone().into_owned();
    assert!(!is_borrowed(&owned));
    assert_eq!(owned, block);
}

proptest! {
    #[test]
    fn into_owned_preserves_the_block(block in any_block()) {
        prop_assert_eq!(block.clone().into_owned(), block);
    }

    #[test]
    fn cow_bytes_accessors_match_std_conversions(bytes in any::<Vec<u8>>()) {
        let content = CowBytes::from(bytes.as_slice());
        prop_assert_eq!(content.as_slice(), bytes.as_slice());
        prop_assert_eq!(content.len(), bytes.len());
        prop_assert_eq!(content.is_empty(), bytes.is_empty());
        prop_assert_eq!(content.as_str(), std::str::from_utf8(&bytes).ok());
        prop_assert_eq!(content.to_str_lossy(), String::from_utf8_lossy(&bytes));
        prop_assert_eq!(content.into_cow(), Cow::Borrowed(bytes.as_slice()));
    }
}

#[test]
fn cow_bytes_convert_from_strings_and_slices() {
    let all: [CowBytes<'_>; 6] = [
        "ab".into(),
        String::from("ab").into(),
        b"ab"[..].into(),
        b"ab".to_vec().into(),
        Cow::Borrowed("ab").into(),
        Cow::<[u8]>::Owned(b"ab".to_vec()).into(),
    ];
    for bytes in &all {
        assert_eq!(bytes, &all[0]);
    }
    let borrowed: Vec<_> = all.iter().map(CowBytes::is_borrowed).collect();
    assert_eq!(borrowed, [true, false, true, false, true, false]);
}

#[test]
fn cow_bytes_debug_prints_utf8_as_text() {
    assert_eq!(format!("{:?}", CowBytes::from("a\n")), r#""a\n""#);
    assert_eq!(format!("{:?}", CowBytes::from(vec![0xFF, 1])), "[255, 1]");
}

#[test]
fn memory_store_returns_the_first_body_of_a_hash() -> Result<(), StoreError> {
    let mut store = MemoryContentStore::default();
    assert_eq!(store.get(&[1; 32])?, None);
    store.put([1; 32], b"first")?;
    store.put([1; 32], b"second")?;
    assert_eq!(store.get(&[1; 32])?.as_deref(), Some(&b"first"[..]));
    assert_eq!(store.get(&[2; 32])?, None);
    Ok(())
}

#[test]
fn store_error_displays_its_message() {
    let error = StoreError { message: "no such table".into() };
    assert_eq!(error.to_string(), "content store error: no such table");
}
