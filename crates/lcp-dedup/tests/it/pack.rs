//! What is left, as a pack of its own.

use lcp_dedup::Level;
use lcp_types::{Annotation, Block, Level as Detail, Meta, Priority};

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
        Block::new(Detail::Detailed.of(4, "c")),
        // Of annotations, too.
        tag(5, "x=y"),
    ];
    let pack = at(Level::Exact, &blocks).pack(&blocks);
    let expected = [
        file("b.rs", F),
        priority(0, Priority::High),
        file("c.rs", "fn c() {}\n"),
        tag(2, "category=references"),
        Block::new(Detail::Detailed.of(2, "c")),
        tag(3, "x=y"),
    ];
    assert_eq!(pack, expected);
}

#[test]
fn what_covers_takes_over_what_was_said() {
    let blocks = [
        chunk("a.rs", 1, 20),
        chunk("a.rs", 11, 30),
        rank(0, "0.9"),
        rank(1, "0.3"),
        priority(1, Priority::High),
        chunk("a.rs", 40, 41),
    ];
    let pack = at(Level::Overlap, &blocks).pack(&blocks);
    let metas = Meta::of_all(&pack, &mut |_, problem| panic!("{problem}"));
    assert_eq!((metas[0].priority, metas[0].rank), (Priority::High, Some(0.9)));
    assert_eq!(metas[2].priority, Priority::Normal);
}

#[test]
fn what_is_said_of_a_text_that_is_no_more_goes() {
    let blocks = [
        chunk("a.rs", 1, 20),
        chunk("a.rs", 11, 30),
        Block::new(Annotation::summary(0, "the first twenty")),
        Block::new(Detail::Tags.of(0, "twenty")),
        Block::new(Annotation::summary(1, "the rest")),
    ];
    let pack = at(Level::Overlap, &blocks).pack(&blocks);
    // The summaries of both, where they were merged.
    assert_eq!(pack, [chunk("a.rs", 1, 30).with_summary("the first twenty\nthe rest")]);
}

#[test]
fn annotations_of_nothing_stay_as_they_are() {
    let blocks = [file("a.rs", F), priority(77, Priority::High), file("b.rs", F)];
    let pack = at(Level::Exact, &blocks).pack(&blocks);
    assert_eq!(pack, [file("a.rs", F), priority(77, Priority::High)]);
}
