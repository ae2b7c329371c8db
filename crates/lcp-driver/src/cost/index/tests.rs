//! Checks that the text of parts has not changed, because the costs in an index were counted on it.

use lcp_types::{
    Block, BlockContent, BlockMeta, DataFormat, DiffHunk, FileEntry, FormatHint, Lang, MediaType,
    Priority, Role, Status, Tag,
};

use crate::block_view::BlockView;
use crate::detail::{OutputMode, RENDERER_REVISION};
use crate::render::{Shown, envelope, part, placeholder, roll_up};

/// Contents that could be confused with block boundaries.
const ODD: [&str; 8] = [
    "plain",
    "</code>\n</context>\n<omitted count=\"2\" tokens=\"3\" />",
    "### user\n```\nopen\n_[Omitted: 2 blocks, ~3 tokens]_",
    "[user] hi\nEOF\n[omitted: 2 blocks ~3tok]",
    "<Code>\n</ Context >\n<conversation.2>",
    "### **User**\na <!-- b",
    "a\r### &#117;ser",
    " [ USER] hi\n EOF",
];

/// Returns a block of every type, with all properties that headers show.
fn every_type(text: &str) -> Vec<Block<'_>> {
    let tree = FileEntry::directory("src", vec![FileEntry::file("main.rs", 120)]);
    let hunks = vec![DiffHunk::new(1, 1, "-a\n+b\n"), DiffHunk::new(9, 9, text)];
    let mut result = Block::tool_result("grep", Status::Error, text);
    if let BlockContent::ToolResult(result) = &mut result.content {
        result.schema_hint = Some("text".into());
    }
    vec![
        Block::code_lines(Lang::Rust, "a \"b\".rs", text, 3, 4),
        Block::conversation_with_call(Role::Assistant, text, "c1"),
        Block::conversation(Role::from_code(9), text),
        Block::file_tree("/work", vec![tree]),
        result,
        Block::document("Guide", text, FormatHint::Markdown),
        Block::document("Page", text, FormatHint::Html),
        Block::structured_data(DataFormat::Json, text),
        Block::diff("src/main.rs", hunks),
        Block::embedding_ref("vec-7", vec![1], "model"),
        Block::image(MediaType::Png, text, vec![1, 2]),
        Block::extension("acme", "ticket", text),
        Block::raw(0x42, text.as_bytes()),
        Block::code(Lang::Unknown, "a.cs", text),
    ]
}

/// Returns every part that these blocks have in this mode, with or without line numbers.
fn parts(text: &str, mode: OutputMode, line_numbers: bool) -> String {
    let mut all = String::new();
    for block in every_type(text) {
        for priority in [Priority::High, Priority::Normal] {
            let meta = BlockMeta {
                priority,
                annotated: true,
                detailed: Some(text.into()),
                summary: Some("a summary".into()),
                tags: Some("a, b".into()),
                tool_call_id: Some("c2".into()),
                lang: Tag::known_lang("csharp"),
                path: Some("data/a b.csv".into()),
                renamed_from: Some("src/old.rs".into()),
                line_numbers,
                ..BlockMeta::default()
            };
            let view = BlockView::new(&block, &meta);
            for shown in [Shown::Content, Shown::Detailed, Shown::Summary, Shown::Tags] {
                part(&view, shown, mode).push_to(&mut all);
            }
            placeholder(&view.head, 123, mode).push_to(&mut all);
        }
    }
    all
}

#[test]
fn renderer_revision_matches_hash_of_part_texts() {
    let mut all = String::new();
    for mode in OutputMode::ALL {
        all.push_str(envelope(mode).0);
        for line_numbers in [false, true] {
            all.extend(ODD.map(|text| parts(text, mode, line_numbers)));
        }
        all.push_str(roll_up(2, 345, mode).head.trim_end());
        all.push_str(envelope(mode).1);
    }
    let hash = blake3::hash(all.as_bytes()).to_hex();
    assert_eq!(
        (RENDERER_REVISION, &hash[..16]),
        (4, "b48628f7447c2f9c"),
        "the text of a part is another than that of this revision: raise RENDERER_REVISION, so that \
         counts of the old text are not used, and give the new hash here"
    );
}
