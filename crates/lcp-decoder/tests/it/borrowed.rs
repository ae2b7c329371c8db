//! What is stored as it is is not copied.

use std::borrow::Cow;

use lcp_decoder::{DecodeOptions, Event, EventIter, blocks};
use lcp_encoder::EncodeOptions;
use lcp_testkit::any_pack;
use lcp_types::{Block, BlockContent, CowBytes, Lang};
use proptest::prelude::*;

/// The contents and texts of a block, without those of nested records.
fn parts<'b>(block: &'b Block<'_>) -> (Vec<&'b CowBytes<'b>>, Vec<&'b Cow<'b, str>>) {
    let (contents, mut texts) = match &block.content {
        BlockContent::Code(it) => (vec![&it.content], vec![&it.path]),
        BlockContent::Conversation(it) => (vec![&it.content], it.tool_call_id.iter().collect()),
        BlockContent::FileTree(it) => (vec![], vec![&it.root]),
        BlockContent::ToolResult(it) => (vec![&it.content], vec![&it.tool_name]),
        BlockContent::Document(it) => (vec![&it.content], vec![&it.title]),
        BlockContent::StructuredData(it) => (vec![&it.content], it.schema.iter().collect()),
        BlockContent::Diff(it) => {
            (it.hunks.iter().map(|hunk| &hunk.lines).collect(), vec![&it.path])
        }
        BlockContent::Annotation(it) => (vec![&it.value], vec![]),
        BlockContent::EmbeddingRef(it) => (vec![&it.vector_id, &it.source_hash], vec![&it.model]),
        BlockContent::Image(it) => (vec![&it.data], vec![&it.alt_text]),
        BlockContent::Extension(it) => (vec![&it.content], vec![&it.namespace, &it.type_name]),
        BlockContent::Raw(it) => (vec![&it.body], vec![]),
    };
    texts.extend(&block.summary);
    (contents, texts)
}

/// Whether `part` is a window of `input`.
fn lies_within(part: &[u8], input: &[u8]) -> bool {
    let (part, input) = (part.as_ptr_range(), input.as_ptr_range());
    input.start <= part.start && part.end <= input.end
}

proptest! {
    #[test]
    fn uncompressed_parts_are_borrowed_from_the_input(pack in any_pack()) {
        let input = lcp_encoder::encode(&pack, EncodeOptions::default()).expect("within the limits");
        for block in blocks(&input, DecodeOptions::default()) {
            let block = block.expect("as written");
            let (contents, texts) = parts(&block);
            for content in contents {
                prop_assert!(content.is_borrowed());
                prop_assert!(lies_within(content.as_slice(), &input));
            }
            for text in texts {
                prop_assert!(matches!(text, Cow::Borrowed(_)));
                prop_assert!(lies_within(text.as_bytes(), &input));
            }
        }
    }
}

#[test]
fn frame_bodies_are_borrowed_from_the_input() {
    let block = Block::code(Lang::Rust, "a.rs", "fn a() {}");
    let input = lcp_encoder::encode(&[block], EncodeOptions::default()).expect("within the limits");
    let mut frames = 0;
    for event in EventIter::new(&input, DecodeOptions::default()) {
        if let Event::Frame(frame) = event.expect("as written") {
            assert!(matches!(frame.body, Cow::Borrowed(body) if lies_within(body, &input)));
            frames += 1;
        }
    }
    assert_eq!(frames, 1);
}
