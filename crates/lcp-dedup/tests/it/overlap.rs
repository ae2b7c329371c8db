//! Task 016.c, `OverlapDedupTests`, and its example.

use lcp_dedup::{DedupLevel, Options};
use lcp_types::{Block, DuplicateKind, Lang, Priority, Status};

use crate::support::{
    at, chunk, contents, covered, file, numbered, priority, range, rank, tag, with,
};

#[test]
fn should_detect_overlap_by_lines() {
    let blocks = [chunk("a.rs", 1, 30), chunk("a.rs", 20, 40)];
    assert_eq!(covered(&at(DedupLevel::Overlap, &blocks)), [(1, DuplicateKind::Overlapping, 0)]);
    assert!(covered(&at(DedupLevel::Exact, &blocks)).is_empty());
}

#[test]
fn should_calculate_overlap_percentage() {
    // 8 of 10 lines are common: 80 %, which the default threshold includes.
    let apart = Options { merge_overlapping: false, ..Options::new(DedupLevel::Overlap) };
    let at_80 = [chunk("a.rs", 1, 10), chunk("a.rs", 3, 12)];
    assert_eq!(covered(&with(&at_80, &apart)), [(1, DuplicateKind::Overlapping, 0)]);
    let at_70 = [chunk("a.rs", 1, 10), chunk("a.rs", 4, 13)];
    assert!(covered(&with(&at_70, &apart)).is_empty());
    // Of the smaller one: 4 of 5 lines, though only 4 of 20 of the other.
    let small = [chunk("a.rs", 1, 20), chunk("a.rs", 17, 21)];
    assert_eq!(covered(&with(&small, &apart)), [(1, DuplicateKind::Overlapping, 0)]);
}

#[test]
fn should_merge_overlapping_chunks() {
    let blocks = [chunk("a.rs", 1, 50), chunk("a.rs", 25, 75)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 75)]);
}

#[test]
fn repeated_and_overlapping_chunks_merge_into_one() {
    // Lines 1-50 twice and 25-75 once become 1-75.
    let blocks = [
        chunk("UserService.cs", 1, 50),
        chunk("UserService.cs", 25, 75),
        chunk("UserService.cs", 1, 50),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("UserService.cs", 1, 75)]);
    let counter = crate::support::counter();
    let count = |first, last| {
        u64::from(lcp_tokens::TokenEstimator::estimate(&counter, &numbered(first, last)))
    };
    let before = 2 * count(1, 50) + count(25, 75);
    assert_eq!(found.duplicates.tokens_saved(), before - count(1, 75));
}

#[test]
fn should_handle_adjacent_chunks() {
    let blocks = [chunk("a.rs", 1, 10), chunk("a.rs", 11, 20)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Adjacent, 0)]);
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 20)]);
}

#[test]
fn should_handle_contained_chunk() {
    let blocks = [chunk("a.rs", 1, 50), chunk("a.rs", 10, 20)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Contained, 0)]);
    assert!(found.changed_blocks.is_empty());
    let whole = [chunk("a.rs", 10, 20), Block::code(Lang::Rust, "a.rs", numbered(1, 50))];
    let found = at(DedupLevel::Overlap, &whole);
    assert_eq!(contents(&found.to_pack_blocks(&whole)), [numbered(1, 50)]);
}

#[test]
fn should_respect_threshold() {
    let blocks = [chunk("a.rs", 1, 50), chunk("a.rs", 25, 75)];
    let options = |threshold| Options {
        merge_overlapping: false,
        overlap_threshold: threshold,
        ..Options::new(DedupLevel::Overlap)
    };
    // 26 of 50 lines: 52 %.
    assert!(covered(&with(&blocks, &options(0.8))).is_empty());
    assert!(covered(&with(&blocks, &options(0.53))).is_empty());
    let found = with(&blocks, &options(0.52));
    assert_eq!(covered(&found), [(1, DuplicateKind::Overlapping, 0)]);
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 50), chunk("a.rs", 51, 75)]);
}

#[test]
fn should_handle_different_files() {
    let blocks = [chunk("a.rs", 1, 30), chunk("b.rs", 20, 40)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn should_handle_no_overlap() {
    let blocks = [chunk("a.rs", 1, 10), chunk("a.rs", 12, 20)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn should_report_merged_count() {
    let blocks =
        [chunk("a.rs", 1, 20), chunk("a.rs", 11, 30), chunk("a.rs", 31, 40), chunk("b.rs", 1, 9)];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(found.duplicates.count(DuplicateKind::Overlapping).0, 1);
    assert_eq!(found.duplicates.count(DuplicateKind::Adjacent).0, 1);
    assert_eq!(range(&found.to_pack_blocks(&blocks)[0]), (Some(1), Some(40)));
}

#[test]
fn two_versions_are_never_merged() {
    let other = numbered(20, 40).replace("line 25 ", "line xxv ");
    let blocks = [chunk("a.rs", 1, 30), Block::code_lines(Lang::Rust, "a.rs", other, 20, 40)];
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn merged_chunk_uses_highest_ranked_place_and_category() {
    let blocks = [
        chunk("a.rs", 1, 20),
        chunk("a.rs", 11, 30),
        tag(0, "category=references"),
        tag(1, "category=open_files"),
        rank(1, "0.9"),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Overlapping, 1)]);
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(pack[0], chunk("a.rs", 1, 30));
    assert_eq!(pack[1..], [tag(0, "category=open_files"), rank(0, "0.9")]);
}

/// Lines that stand in a more important chunk are not shown twice, and no chunk is
/// raised for them.
#[test]
fn chunks_with_different_priorities_are_not_merged() {
    let blocks = [
        chunk("a.rs", 1, 60),
        chunk("a.rs", 50, 90),
        chunk("a.rs", 55, 58),
        priority(0, Priority::Low),
        priority(1, Priority::High),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(
        covered(&found),
        [(0, DuplicateKind::Overlapping, 1), (2, DuplicateKind::Contained, 1)]
    );
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(pack[..2], [chunk("a.rs", 1, 49), chunk("a.rs", 50, 90)]);
    // What lies within a less important one stays beside it.
    let within = [chunk("a.rs", 1, 60), chunk("a.rs", 50, 55), priority(1, Priority::Critical)];
    assert!(covered(&at(DedupLevel::Overlap, &within)).is_empty());
}

#[test]
fn merged_chunk_size_is_limited_by_the_token_budget() {
    let blocks = [chunk("a.rs", 1, 50), chunk("a.rs", 25, 75)];
    let found = with(&blocks, &Options::new(DedupLevel::Overlap).with_token_budget(1_200));
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 50), chunk("a.rs", 51, 75)]);
    let found = with(&blocks, &Options::new(DedupLevel::Overlap).with_token_budget(8_000));
    assert_eq!(found.to_pack_blocks(&blocks), [chunk("a.rs", 1, 75)]);
}

#[test]
fn merge_over_the_byte_limit_is_split_at_a_line() {
    let blocks = [chunk("a.rs", 1, 60), chunk("a.rs", 40, 99), chunk("a.rs", 90, 150)];
    let bytes = numbered(1, 70).len();
    let options = Options { merged_bytes: bytes, ..Options::new(DedupLevel::Overlap) };
    let found = with(&blocks, &options);
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(contents(&pack).concat(), numbered(1, 150));
    assert!(contents(&pack).iter().all(|text| text.len() <= bytes));
    assert_eq!(found.duplicates.covered.values().filter(|it| !it.in_place).count(), 3 - pack.len());
}

#[test]
fn bad_line_ranges_are_reported_and_not_merged() {
    let bad = |first, last| Block::code_lines(Lang::Rust, "a.rs", numbered(1, 10), first, last);
    let blocks = [
        bad(10, 1),
        bad(0, 9),
        bad(1, 500),
        bad(u32::MAX, u32::MAX),
        chunk("a.rs", 3, 8),
        bad(4, 13),
    ];
    let options = Options::new(DedupLevel::Overlap);
    let found = lcp_dedup::detect(&blocks, &options, &crate::support::counter()).unwrap();
    let bad: Vec<_> = found.bad_ranges.iter().map(|(index, _)| *index).collect();
    // They cover nothing either: the last is like four of them, and stays.
    assert_eq!(bad, [0, 1, 2, 3]);
    assert!(found.is_empty());
    let apart: Vec<_> = blocks
        .iter()
        .enumerate()
        .map(|(at, block)| {
            let mut block = block.clone();
            if let Some(text) = block.content.text_mut() {
                *text = format!("{}// {at}\n", text.to_str_lossy()).into();
            }
            block
        })
        .collect();
    let found = lcp_dedup::detect(&apart, &options, &crate::support::counter()).unwrap();
    let bad: Vec<_> = found.bad_ranges.iter().map(|(index, _)| *index).collect();
    assert_eq!(bad, [0, 1, 2, 3, 4, 5]);
    assert!(found.is_empty());
}

#[test]
fn merged_chunks_concatenate_their_summaries() {
    let first = chunk("a.rs", 1, 20).with_summary("the beginning");
    let second = chunk("a.rs", 11, 30).with_summary("the rest");
    let blocks = [second.clone(), first.clone()];
    let pack = at(DedupLevel::Overlap, &blocks).to_pack_blocks(&blocks);
    assert_eq!(pack[0].summary.as_deref(), Some("the beginning\nthe rest"));
    // One that lies within them has nothing to add.
    let within = [second.clone(), first.clone(), chunk("a.rs", 12, 14)];
    let pack = at(DedupLevel::Overlap, &within).to_pack_blocks(&within);
    assert_eq!(pack[0].summary.as_deref(), Some("the beginning\nthe rest"));
    let same = [first.clone(), chunk("a.rs", 11, 30).with_summary("the beginning")];
    let pack = at(DedupLevel::Overlap, &same).to_pack_blocks(&same);
    assert_eq!(pack[0].summary.as_deref(), Some("the beginning"));
    let half = [first, chunk("a.rs", 11, 30)];
    assert_eq!(at(DedupLevel::Overlap, &half).to_pack_blocks(&half)[0].summary, None);
}

#[test]
fn chunks_merge_into_their_complete_file() {
    let blocks = [
        chunk("a.rs", 5, 9),
        Block::code(Lang::Rust, "a.rs", numbered(1, 30)),
        chunk("a.rs", 20, 30),
        file("b.rs", "fn b() {}\n"),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks)),
        [numbered(1, 30), "fn b() {}\n".to_owned()]
    );
}

/// What a result says stands in a chunk that another one takes in: it refers to that one.
#[test]
fn result_refers_to_the_merged_chunk() {
    let blocks = [
        Block::tool_result("test", Status::Ok, numbered(15, 29)),
        chunk("c", 10, 18),
        priority(1, Priority::Critical),
        chunk("c", 15, 29),
        priority(3, Priority::Critical),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert!(covered(&found).contains(&(0, DuplicateKind::Overlapping, 1)), "{:?}", covered(&found));
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks)),
        ["[all of it stands in c:10-29 below]".to_owned(), numbered(10, 29)]
    );
}
