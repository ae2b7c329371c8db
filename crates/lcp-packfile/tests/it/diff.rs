//! Comparison of two packs.

use lcp_packfile::{BlockPair, DiffSide, diff};
use lcp_testkit::any_pack;
use lcp_types::{Annotation, Block, Lang, Priority, Role, Tag};
use proptest::prelude::*;

fn file(path: &'static str, text: &'static str) -> Block<'static> {
    Block::code(Lang::Rust, path, text)
}

fn compared<'b>(a: &'b [Block<'b>], b: &'b [Block<'b>]) -> Vec<BlockPair> {
    diff(&DiffSide::new(a), &DiffSide::new(b))
}

#[test]
fn diff_reports_minimal_moves() {
    let a = [file("a", "1"), file("b", "2"), file("c", "3"), file("d", "4")];
    let b = [file("d", "4"), file("a", "1"), file("b", "two"), file("e", "5")];
    let rows: Vec<_> = compared(&a, &b)
        .iter()
        .map(|pair| (pair.a, pair.b, pair.moved, pair.changed.clone()))
        .collect();
    let none = Vec::new;
    assert_eq!(
        rows,
        [
            (Some(3), Some(0), true, none()),
            (Some(0), Some(1), false, none()),
            (Some(1), Some(2), false, vec!["content"]),
            (Some(2), None, false, none()),
            (None, Some(3), false, none()),
        ]
    );
}

/// A turn that is new in the middle is new, and the others are what they were.
#[test]
fn equal_blocks_with_the_same_label_are_paired() {
    let turn = |text: &'static str| Block::conversation(Role::User, text);
    let a = [turn("1"), turn("2"), turn("3")];
    let b = [turn("1"), turn("1½"), turn("2"), turn("3")];
    let new: Vec<_> = compared(&a, &b).into_iter().filter(BlockPair::has_changed).collect();
    assert_eq!(new, [BlockPair { a: None, b: Some(1), changed: Vec::new(), moved: false }]);
}

#[test]
fn annotation_change_is_a_block_change() {
    let a = [file("a", "1")];
    for (annotation, changed) in [
        (Annotation::priority(0, Priority::High), &["priority"][..]),
        (Annotation::tag(0, &Tag::new("sidechain", "x")), &["annotations"]),
        (Annotation::tag(0, &Tag::new("message", "7")), &[]),
        (Annotation::tag(7, &Tag::new("sidechain", "of nothing")), &[]),
    ] {
        let b = [file("a", "1"), Block::new(annotation)];
        let rows = compared(&a, &b);
        assert_eq!((rows.len(), &rows[0].changed[..]), (1, changed));
    }
}

/// Behind a message that is new all have other numbers, and other ranks.
#[test]
fn rank_shift_with_message_number_is_ignored() {
    let turn = |tags: [(&'static str, &'static str); 2]| {
        let tags = tags.map(|(key, value)| Block::new(Annotation::tag(0, &Tag::new(key, value))));
        [&[file("a", "1")], &tags[..]].concat()
    };
    let changed = |a, b| compared(&turn(a), &turn(b))[0].changed.clone();
    let first = [("message", "7"), ("rank", "7")];
    assert_eq!(changed(first, [("message", "8"), ("rank", "8")]), [""; 0]);
    assert_eq!(changed(first, [("message", "8"), ("rank", "9")]), ["rank"]);
}

proptest! {
    #[test]
    fn diff_against_itself_reports_no_change(pack in any_pack()) {
        prop_assert!(compared(&pack, &pack).iter().all(|pair| !pair.has_changed()));
    }

    #[test]
    fn each_content_block_has_one_diff_row(a in any_pack(), b in any_pack()) {
        let rows = compared(&a, &b);
        for (pack, of) in [(&a, (|pair| pair.a) as fn(&BlockPair) -> _), (&b, |pair: &BlockPair| pair.b)] {
            let mut found: Vec<usize> = rows.iter().filter_map(of).collect();
            found.sort_unstable();
            let shown = pack.iter().enumerate();
            let shown: Vec<_> = shown
                .filter(|(_, block)| !block.content.is_metadata())
                .map(|(index, _)| index)
                .collect();
            prop_assert_eq!(found, shown);
        }
    }
}
