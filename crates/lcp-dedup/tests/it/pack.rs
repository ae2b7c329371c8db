//! What is left, as a pack of its own.

use lcp_dedup::DedupLevel;
use lcp_types::{Annotation, Block, BlockMeta, CarriedLevel, Priority};

use crate::support::{at, chunk, file, priority, rank, tag};

const F: &str = "fn f() {}\n";

#[test]
fn annotations_follow_their_blocks() {
    let blocks = [
        file("a.rs", F),
        priority(0, Priority::Low),
        file("b.rs", F),
        priority(2, Priority::High),
        file("c.rs", "fn c() {}\n"),
        tag(4, "category=references"),
        Block::new(CarriedLevel::Detailed.to_extension(4, "c")),
        // Of annotations, too.
        tag(5, "x=y"),
    ];
    let pack = at(DedupLevel::Exact, &blocks).to_pack_blocks(&blocks);
    let expected = [
        file("b.rs", F),
        priority(0, Priority::High),
        file("c.rs", "fn c() {}\n"),
        tag(2, "category=references"),
        Block::new(CarriedLevel::Detailed.to_extension(2, "c")),
        tag(3, "x=y"),
    ];
    assert_eq!(pack, expected);
}

#[test]
fn covering_block_inherits_the_higher_priority() {
    let blocks = [
        chunk("a.rs", 1, 20),
        chunk("b.rs", 1, 20),
        rank(0, "0.9"),
        rank(1, "0.3"),
        priority(1, Priority::High),
        chunk("a.rs", 40, 41),
    ];
    let pack = at(DedupLevel::Overlap, &blocks).to_pack_blocks(&blocks);
    let metas = BlockMeta::resolve_all(&pack, &mut |_, problem| panic!("{problem}"));
    assert_eq!((metas[0].priority, metas[0].rank), (Priority::High, Some(0.9)));
    assert_eq!(metas[2].priority, Priority::Normal);
}

#[test]
fn merge_drops_annotations_and_joins_summaries() {
    let blocks = [
        chunk("a.rs", 1, 20),
        chunk("a.rs", 11, 30),
        Block::new(Annotation::summary(0, "the first twenty")),
        Block::new(CarriedLevel::Tags.to_extension(0, "twenty")),
        Block::new(Annotation::summary(1, "the rest")),
    ];
    let pack = at(DedupLevel::Overlap, &blocks).to_pack_blocks(&blocks);
    // The summaries of both, where they were merged.
    assert_eq!(pack, [chunk("a.rs", 1, 30).with_summary("the first twenty\nthe rest")]);
}

#[test]
fn dangling_annotations_are_unchanged() {
    let blocks = [file("a.rs", F), priority(77, Priority::High), file("b.rs", F)];
    let pack = at(DedupLevel::Exact, &blocks).to_pack_blocks(&blocks);
    assert_eq!(pack, [file("a.rs", F), priority(77, Priority::High)]);
}

/// What stands in the place of a copy is no copy itself.
#[test]
fn dedup_is_idempotent() {
    let more = |text: &str| text.replace("line 7 ", "line vii ");
    let text = crate::support::numbered(1, 30);
    let blocks = [
        Block::code(lcp_types::Lang::Rust, "k.rs", text.clone()),
        Block::code(lcp_types::Lang::Rust, "b.rs", more(&text)),
        Block::code_lines(lcp_types::Lang::Rust, "b.rs", crate::support::numbered(5, 7), 5, 7),
        file("c.rs", "fn c() {\n    old_one_of_some_length();\n    another();\n}\n"),
        file("c.rs", "fn c() {\n    new_one_of_some_length();\n    another();\n}\n"),
    ];
    let once = at(DedupLevel::Near, &blocks).to_pack_blocks(&blocks);
    assert_ne!(once, blocks);
    for level in DedupLevel::ALL {
        assert_eq!(at(level, &once).to_pack_blocks(&once), once);
    }
}

#[test]
fn annotations_on_removed_blocks_are_removed() {
    let blocks =
        [file("a.rs", F), file("b.rs", F), rank(1, "0.1"), tag(2, "x=y"), file("c.rs", "c\n")];
    let pack = at(DedupLevel::Exact, &blocks).to_pack_blocks(&blocks);
    let expected = [file("b.rs", F), rank(0, "0.1"), tag(1, "x=y"), file("c.rs", "c\n")];
    assert_eq!(pack, expected);
    let unranked = [file("a.rs", F), file("b.rs", F), tag(1, "k=v"), tag(2, "x=y")];
    assert_eq!(at(DedupLevel::Exact, &unranked).to_pack_blocks(&unranked), [file("a.rs", F)]);
}
