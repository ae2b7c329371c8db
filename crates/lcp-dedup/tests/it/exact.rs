//! Task 016.c, `ExactDedupTests`.

use lcp_dedup::DedupLevel;
use lcp_types::{
    Block, BlockContent, DuplicateKind, FileEntry, FormatHint, Lang, MediaType, Priority, Status,
};

use crate::support::{at, contents, covered, file, priority, rank};

const F: &str = "fn f() {\n    work()\n}\n";
const G: &str = "fn g() {}\n";

#[test]
fn should_detect_exact_duplicate() {
    let blocks = [file("a.rs", F), file("b.rs", G), file("c.rs", F)];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(covered(&found), [(2, DuplicateKind::Equal, 0)]);
    assert_eq!(contents(&found.to_pack_blocks(&blocks)), [F, G]);
}

#[test]
fn should_keep_first_occurrence() {
    let blocks = [file("a.rs", F), file("b.rs", F), file("c.rs", F)];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Equal, 0), (2, DuplicateKind::Equal, 0)]);
}

#[test]
fn should_keep_highest_ranked() {
    let ranked = [file("a.rs", F), file("b.rs", F), rank(0, "0.2"), rank(1, "0.9")];
    assert_eq!(covered(&at(DedupLevel::Exact, &ranked)), [(0, DuplicateKind::Equal, 1)]);
    let unranked_last = [file("a.rs", F), file("b.rs", F), rank(1, "-3")];
    assert_eq!(covered(&at(DedupLevel::Exact, &unranked_last)), [(0, DuplicateKind::Equal, 1)]);
    let by_priority = [file("a.rs", F), file("b.rs", F), priority(1, Priority::High)];
    assert_eq!(covered(&at(DedupLevel::Exact, &by_priority)), [(0, DuplicateKind::Equal, 1)]);
    let rank_first =
        [file("a.rs", F), file("b.rs", F), priority(0, Priority::Critical), rank(1, "0.1")];
    let found = at(DedupLevel::Exact, &rank_first);
    assert_eq!(covered(&found), [(0, DuplicateKind::Equal, 1)]);
    // What covers a Critical block is Critical.
    let pack = found.to_pack_blocks(&rank_first);
    let priorities: Vec<_> =
        pack.iter().filter_map(|block| block.as_annotation()?.as_priority()).collect();
    assert_eq!(priorities, [Priority::Critical]);
}

#[test]
fn should_handle_different_sources() {
    let blocks = [
        file("a.rs", F),
        Block::document("notes", F, FormatHint::Plain),
        Block::code(Lang::Python, "b.py", F),
    ];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Equal, 0), (2, DuplicateKind::Equal, 0)]);
}

#[test]
fn should_handle_no_duplicates() {
    let blocks = [file("a.rs", F), file("b.rs", G)];
    let found = at(DedupLevel::Exact, &blocks);
    assert!(covered(&found).is_empty());
    assert!(found.changed_blocks.is_empty());
    assert_eq!(found.to_pack_blocks(&blocks), blocks);
    assert!(covered(&at(DedupLevel::Near, &[])).is_empty());
    assert!(covered(&at(DedupLevel::Near, &blocks[..1])).is_empty());
}

#[test]
fn should_handle_all_duplicates() {
    let blocks = vec![file("a.rs", F); 100];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(found.duplicates.covered.len(), 99);
    assert_eq!(contents(&found.to_pack_blocks(&blocks)), [F]);
}

#[test]
fn should_report_removed_count() {
    let blocks = [file("a.rs", F), file("b.rs", F), file("c.rs", G), file("d.rs", F)];
    let found = at(DedupLevel::Exact, &blocks);
    // `fn f() {`, the body and the brace: what o200k_base counts for them, twice.
    let (removed, saved) = found.duplicates.count(DuplicateKind::Equal);
    assert_eq!(removed, 2);
    let one = lcp_tokens::TokenEstimator::estimate(&crate::support::counter(), F);
    assert_eq!(saved, 2 * u64::from(one));
}

#[test]
fn one_byte_difference_prevents_a_match() {
    let blocks = [
        file("a.rs", "fn f() {}\n"),
        file("b.rs", "fn f() {}"),
        file("c.rs", "fn f() {}\r\n"),
        file("d.rs", "fn f()  {}\n"),
    ];
    assert!(covered(&at(DedupLevel::Exact, &blocks)).is_empty());
}

#[test]
fn empty_and_blank_contents_stay() {
    let blocks = [file("a.rs", ""), file("b.rs", ""), file("c.rs", " \n"), file("d.rs", " \n")];
    assert!(covered(&at(DedupLevel::Near, &blocks)).is_empty());
}

#[test]
fn non_utf8_content_is_compared_as_bytes() {
    let bytes = |path: &'static str, last: u8| {
        Block::code(Lang::C, path, vec![0xFF, 0xFE, last, b'\n', b'x'])
    };
    let blocks = [bytes("a.c", 0), bytes("b.c", 1), bytes("c.c", 0)];
    assert_eq!(covered(&at(DedupLevel::Exact, &blocks)), [(2, DuplicateKind::Equal, 0)]);
}

#[test]
fn blocks_without_text_are_compared_by_all_fields() {
    let image = |alt: &'static str| Block::image(MediaType::Png, alt, vec![1, 2, 3]);
    let tree = |size| Block::file_tree("src", vec![FileEntry::file("a.rs", size)]);
    let blocks = [image("a"), image("b"), image("a"), tree(1), tree(1), tree(2), tree(1)];
    let found = at(DedupLevel::Exact, &blocks);
    // The last is what the tree is again, after it was something else.
    assert_eq!(covered(&found), [(2, DuplicateKind::Equal, 0), (4, DuplicateKind::Equal, 3)]);
    let raw = [Block::raw(0x42, "x"), Block::raw(0x43, "x"), Block::raw(0x42, "x")];
    assert_eq!(covered(&at(DedupLevel::Exact, &raw)), [(2, DuplicateKind::Equal, 0)]);
}

#[test]
fn extensions_with_different_types_are_not_equal() {
    let of = |name: &'static str| Block::extension("acme", name, F);
    let blocks = [of("a"), of("b"), of("a"), file("a.rs", F)];
    assert_eq!(covered(&at(DedupLevel::Exact, &blocks)), [(2, DuplicateKind::Equal, 0)]);
}

#[test]
fn pinned_blocks_cover_and_are_never_covered() {
    let blocks = [file("a.rs", F), file("b.rs", F), crate::support::tag(1, "pinned")];
    assert_eq!(covered(&at(DedupLevel::Exact, &blocks)), [(0, DuplicateKind::Equal, 1)]);
    let both = [
        file("a.rs", F),
        file("b.rs", F),
        crate::support::tag(0, "pinned"),
        crate::support::tag(1, "pinned"),
    ];
    assert!(covered(&at(DedupLevel::Near, &both)).is_empty());
}

#[test]
fn unselected_types_neither_cover_nor_are_covered() {
    let blocks = [Block::document("notes", F, FormatHint::Plain), file("a.rs", F), file("b.rs", F)];
    let options = lcp_dedup::Options {
        types: Some(vec![lcp_types::BlockType::Code]),
        ..lcp_dedup::Options::new(DedupLevel::Exact)
    };
    assert_eq!(covered(&crate::support::with(&blocks, &options)), [(2, DuplicateKind::Equal, 1)]);
}

#[test]
fn tool_result_covers_an_equal_file() {
    let long = "the same text, long enough to be worth a line of its own\n".repeat(4);
    let result = Block::tool_result("cat", Status::Ok, long.clone());
    let blocks = [result, Block::code(Lang::Rust, "a.rs", long)];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Equal, 0)]);
    assert!(matches!(found.to_pack_blocks(&blocks)[0].content, BlockContent::ToolResult(_)));
}
