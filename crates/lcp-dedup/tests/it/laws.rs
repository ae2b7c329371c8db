//! The laws of RFC 0006 §2 over random packs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lcp_dedup::{DedupLevel, Options, Survivor, dedup};
use lcp_types::{
    Block, BlockContent, BlockMeta, DiffHunk, DuplicateKind, FormatHint, Lang, Priority, Role,
    Status,
};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::{check, counter, covered, priority, tag};

/// Lines of a version of a file: another version has other lines here and there.
fn version(version: u32, first: u32, last: u32) -> String {
    (first..=last)
        .map(|n| match n % 7 {
            0 if version > 0 => format!("changed {version} at {n}\n"),
            3 => "}\n".to_owned(),
            5 => "\n".to_owned(),
            _ => format!("let line = {n};\n"),
        })
        .collect()
}

/// A file in one of many styles: other white space, other comments, and sometimes another line.
fn styled() -> impl Strategy<Value = Block<'static>> {
    let units = select(&["    ", "\t", "  ", "   "][..]);
    let spaces = select(&["", "", " ", "  \t"][..]);
    let endings = select(&["\n", "\n", "\r\n"][..]);
    let languages = select(&[Lang::Rust, Lang::Python, Lang::Unknown][..]);
    let odd_lines = select(&[0u32, 0, 0, 7][..]);
    let parts = (0..4u32, odd_lines, 2..4u32, any::<bool>());
    let words = select(&["", "", "// one", "# one"][..]);
    (languages, units, spaces, endings, words, parts).prop_map(
        |(lang, unit, space, ending, comment, (name, odd, every, has_newline))| {
            let mut text = String::new();
            for number in 1..24 {
                let value = if number == odd { 77 } else { number };
                text += &unit.repeat((number % 3) as usize);
                let _ = write!(text, "let value_{number} = compute({value}); {comment}");
                text.truncate(text.trim_end().len());
                if number % every == 0 {
                    text += space;
                }
                text += ending;
            }
            if !has_newline {
                text.truncate(text.trim_end().len());
            }
            Block::code(lang, format!("styled{name}"), text)
        },
    )
}

/// One block of a session: reads, results, turns, edits, notes.
fn block() -> impl Strategy<Value = Block<'static>> {
    let path = || select(&["a.rs", "b.py", "c"][..]);
    let versions = prop_oneof![4 => Just(0u32), 1 => 1..3u32];
    let chunk = (path(), versions.clone(), 1..40u32, 0..25u32, 0..10u32).prop_map(
        |(path, of, first, more, odd)| {
            let text = version(of, first, first + more);
            match odd {
                0 => Block::code(Lang::Rust, path, version(of, 1, 1 + more)),
                // A range that is not that of the text.
                1 => Block::code_lines(Lang::Rust, path, text, first + 1, first),
                // No newline at the end, another language.
                2 => Block::code_lines(
                    Lang::Python,
                    path,
                    text.trim_end().to_owned(),
                    first,
                    first + more,
                ),
                _ => Block::code_lines(Lang::Rust, path, text, first, first + more),
            }
        },
    );
    let texts =
        (0..4u32, 1..12u32).prop_map(|(from, more)| version(from % 2, 1 + from, 1 + from + more));
    let statuses = select(&[Status::Ok, Status::Error][..]);
    let result = (select(&["read", "test"][..]), statuses, texts.clone())
        .prop_map(|(tool, status, text)| Block::tool_result(tool, status, text));
    let roles = select(&[Role::User, Role::Assistant, Role::System, Role::Tool][..]);
    let turn = (roles, texts.clone()).prop_map(|(role, text)| Block::conversation(role, text));
    let note = texts.clone().prop_map(|text| Block::document("note", text, FormatHint::Plain));
    let diff = (path(), 1..20u32).prop_map(|(path, at)| {
        let text = version(0, at, at + 9);
        let old: Vec<_> = text.lines().map(|line| format!("-{line}\n")).collect();
        Block::diff(path, vec![DiffHunk::new(at, at, old.concat())])
    });
    prop_oneof![6 => chunk, 4 => styled(), 2 => result, 1 => turn, 1 => note, 1 => diff]
}

/// A session of such blocks, with tags that come right behind their blocks.
pub(crate) fn session() -> impl Strategy<Value = Vec<Block<'static>>> {
    let tags = select(
        &["", "", "", "rank=1", "rank=0.5", "pinned", "args=x", "args=y", "!low", "!critical"][..],
    );
    prop::collection::vec((block(), tags), 0..14).prop_map(|list| {
        let mut blocks = Vec::new();
        for (block, text) in list {
            let target = blocks.len() as u64;
            blocks.push(block);
            match text {
                "" => {}
                "!low" => blocks.push(priority(target, Priority::Low)),
                "!critical" => blocks.push(priority(target, Priority::Critical)),
                text => blocks.push(tag(target, text)),
            }
        }
        blocks
    })
}

/// Returns whether block `to` restores its source: a block of the same source between `from` and
/// `to` has other content.
fn was_restored(blocks: &[Block<'_>], from: usize, to: usize) -> bool {
    let source = |index: usize| match &blocks[index].content {
        BlockContent::Code(code) => Some((0, code.path.as_ref())),
        BlockContent::Diff(diff) => Some((0, diff.path.as_ref())),
        BlockContent::Document(document) => Some((1, document.title.as_ref())),
        _ => None,
    };
    let text = |index: usize| blocks[index].content.text();
    (from + 1..=to).filter(|&later| text(later) == text(to)).any(|later| {
        let mut between = (from + 1..later).filter(|&other| source(other) == source(later));
        source(later).is_some() && between.any(|other| text(other) != text(later))
    })
}

fn options() -> impl Strategy<Value = Options> {
    (
        select(&DedupLevel::ALL[..]),
        select(&Survivor::ALL[..]),
        any::<bool>(),
        50..2_000usize,
        0..=10u8,
    )
        .prop_map(|(level, keep, merge_overlapping, merged_bytes, tenths)| Options {
            survivor: keep,
            merge_overlapping,
            merged_bytes,
            overlap_threshold: f64::from(tenths) / 10.0,
            ..Options::new(level)
        })
}

proptest! {
    #[test]
    fn dedup_loses_no_unique_lines(blocks in session(), options in options()) {
        let found = dedup(&blocks, &options, &counter()).unwrap();
        check(&blocks, &found);
    }

    #[test]
    fn dedup_is_deterministic(blocks in session(), options in options()) {
        let run = || dedup(&blocks, &options, &counter()).unwrap();
        let (one, two) = (run(), run());
        prop_assert_eq!(&one.duplicates, &two.duplicates);
        prop_assert_eq!(one.changed_blocks, two.changed_blocks);
    }

    /// After a first run, a second one finds no equal blocks. The only exception is restored
    /// content: the first run may have removed the block with the other content in between.
    #[test]
    fn second_exact_run_removes_no_copies(blocks in session()) {
        let run = |blocks: &[_]| dedup(blocks, &Options::new(DedupLevel::Exact), &counter()).unwrap();
        let first = run(&blocks);
        let once = first.to_pack_blocks(&blocks);
        // The index of each remaining block before the first run.
        let contents = |blocks: &[Block<'_>]| -> Vec<usize> {
            (0..blocks.len()).filter(|&index| !blocks[index].content.is_metadata()).collect()
        };
        let mut before = contents(&blocks);
        before.retain(|&index| !first.duplicates.is_removed(index));
        let before: BTreeMap<_, _> = contents(&once).into_iter().zip(before).collect();
        for (index, _, by) in covered(&run(&once)) {
            let (index, by) = (before[&index], before[&by]);
            let is_restored = was_restored(&blocks, index.min(by), index.max(by));
            prop_assert!(is_restored, "{} is a copy of {}", index, by);
        }
    }

    /// The order of what neither ties nor is a version of the other does not
    /// matter: what is kept is the same content.
    #[test]
    fn ranked_result_is_independent_from_input_order(
        (ranked, shuffled) in prop::collection::vec(0..6u32, 1..20).prop_flat_map(|texts| {
            let ranked: Vec<_> = texts.into_iter().enumerate().collect();
            (Just(ranked.clone()), Just(ranked).prop_shuffle())
        }),
    ) {
        let blocks = |order: &[(usize, u32)]| {
            let mut blocks: Vec<_> = order
                .iter()
                .map(|(at, text)| Block::document(format!("{at}"), format!("text {text}\n"), FormatHint::Plain))
                .collect();
            for (target, (at, _)) in (0..).zip(order) {
                blocks.push(crate::support::rank(target, &format!("{at}")));
            }
            blocks
        };
        let kept = |blocks: &[Block<'static>]| {
            let pack = dedup(blocks, &Options::new(DedupLevel::Near), &counter()).unwrap().to_pack_blocks(blocks);
            let mut titles: Vec<_> = pack.iter().filter_map(|block| match &block.content {
                BlockContent::Document(document) => Some(document.title.to_string()),
                _ => None,
            }).collect();
            titles.sort();
            titles
        };
        prop_assert_eq!(kept(&blocks(&shuffled)), kept(&blocks(&ranked)));
    }

    /// What must be shown whatever the budget does not grow: no block becomes
    /// Critical but for one with the same content.
    #[test]
    fn only_equal_content_raises_a_block_to_critical(blocks in session(), options in options()) {
        let found = dedup(&blocks, &options, &counter()).unwrap();
        let before = BlockMeta::resolve_all(&blocks, &mut |_, _| {});
        let mut after = before.clone();
        found.duplicates.inherit_metadata(&blocks, &mut after);
        for index in 0..blocks.len() {
            let is_critical = |metas: &[BlockMeta<'_>]| metas[index].priority == Priority::Critical;
            if is_critical(&after) && !is_critical(&before) {
                let likes = found.duplicates.covered.iter().filter(|(_, it)| it.by == index);
                let mut likes =
                    likes.filter(|(like, _)| before[**like].priority == Priority::Critical);
                prop_assert!(likes.any(|(_, it)| it.relation == DuplicateKind::Equal), "{}", index);
            }
        }
    }

    #[test]
    fn superseded_blocks_are_replaced_in_place(blocks in session()) {
        let found = dedup(&blocks, &Options::new(DedupLevel::Near), &counter()).unwrap();
        for (index, covered) in &found.duplicates.covered {
            if covered.relation == DuplicateKind::Superseded {
                prop_assert!(covered.in_place && !found.duplicates.is_removed(covered.by));
                prop_assert!(found.changed_blocks.contains_key(index));
            }
        }
    }
}
