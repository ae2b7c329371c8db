//! What the benchmark of deduplication rests on: its corpus, and what it takes
//! for true.

use std::collections::HashSet;

use lcp_bench::dedup::check::Checked;
use lcp_bench::dedup::corpus::{Mix, corpus, real_chunks};
use lcp_bench::dedup::ground_truth::{Score, Sets};
use lcp_dedup::{DedupLevel, Options, Survivor, dedup};
use lcp_tokens::HeuristicEstimator;
use lcp_types::{Block, DuplicateKind, Lang, Replacement, Replacements};

fn texts<'b>(blocks: &'b [Block<'_>]) -> Vec<&'b str> {
    blocks.iter().filter_map(|block| block.content.text()?.as_str()).collect()
}

#[test]
fn near_pairs_equal_brute_force_comparison() {
    let blocks = corpus(Mix::Texts, 600);
    let texts = texts(&blocks);
    let sets: Vec<HashSet<&str>> =
        texts.iter().map(|text| text.lines().map(str::trim_ascii_end).collect()).collect();
    for percent in [50, 80, 100] {
        let mut expected = HashSet::new();
        for (one, set) in (0u32..).zip(&sets) {
            for (other, earlier) in (0..one).zip(&sets) {
                let common = set.intersection(earlier).count();
                if common * 100 >= set.union(earlier).count() * percent {
                    expected.insert((one, other));
                }
            }
        }
        assert!(expected.len() > 50, "{}", expected.len());
        let found = Sets::from_texts(texts.iter().copied()).near_pairs(percent);
        assert_eq!(found, expected, "{percent} %");
    }
}

/// Lines that most texts have are not looked up: texts that have little else
/// must be found all the same.
#[test]
fn near_pairs_include_texts_with_only_common_lines() {
    let own =
        |i: usize| format!("a\nb\nc\nd\n{}\n", if i < 500 { i.to_string() } else { "e".into() });
    let texts: Vec<String> = (0..503).map(own).collect();
    let near = Sets::from_texts(texts.iter().map(String::as_str)).near_pairs(80);
    assert_eq!(near, HashSet::from([(501, 500), (502, 500), (502, 501)]));
}

#[test]
fn score_counts_texts_and_pairs() {
    let near = HashSet::from([(1, 0), (2, 0), (2, 1), (9, 8)]);
    let found = HashSet::from([(1, 0), (2, 0), (5, 4)]);
    let score = Score::new(&near, &found);
    assert_eq!((score.texts, score.pairs, score.found), ((3, 2), (4, 2), 3));
    assert!((score.recall() - 200.0 / 3.0).abs() < 1e-9);
    assert!((score.recall_of_pairs() - 50.0).abs() < 1e-9);
}

/// About 20 lines of 35 bytes, always the same ones.
#[test]
fn corpus_has_realistic_chunks_and_duplicates() {
    for mix in [Mix::Texts, Mix::Session] {
        let blocks = corpus(mix, 2_000);
        assert_eq!(blocks, corpus(mix, 2_000));
        let texts = texts(&blocks);
        let lines: usize = texts.iter().map(|text| text.lines().count()).sum();
        let bytes: usize = texts.iter().map(|text| text.len()).sum();
        let (chunks, bytes) = (lines / 2_000, bytes / lines);
        assert!((17..=23).contains(&chunks) && (28..=40).contains(&bytes), "{chunks} × {bytes}");
        let different: HashSet<_> = texts.iter().collect();
        let copies = texts.len() - different.len();
        assert!((200..500).contains(&copies), "{copies}");
    }
}

/// Deduplicates at every level, and looks for each line of what is not shown.
#[track_caller]
fn check(blocks: &[Block<'static>], relations: &[DuplicateKind]) {
    for keep in Survivor::ALL {
        for merge_overlapping in [true, false] {
            let options =
                Options { survivor: keep, merge_overlapping, ..Options::new(DedupLevel::Near) };
            let result = dedup(blocks, &options, &HeuristicEstimator).unwrap();
            let after = result.blocks_with_stubs(blocks.to_vec());
            let checked = Checked::new(blocks, &after, &result.duplicates);
            assert_eq!(checked.wrong, [], "{options:?}");
            if keep == Survivor::Best && merge_overlapping {
                let found: Vec<_> = checked.covered.keys().copied().collect();
                assert_eq!(found, relations, "{}", checked.summary());
            }
        }
    }
}

#[test]
fn dedup_loses_no_line_of_generated_chunks() {
    check(&corpus(Mix::Texts, 3_000), &[DuplicateKind::Equal, DuplicateKind::Near]);
    check(&corpus(Mix::Session, 3_000), &DuplicateKind::ALL);
}

/// A few hundred files of the crates that are built here.
#[test]
fn dedup_loses_no_line_of_real_code() {
    let blocks = real_chunks(25).unwrap();
    assert!(blocks.len() > 500, "{}", blocks.len());
    check(
        &blocks,
        &[
            DuplicateKind::Equal,
            DuplicateKind::Contained,
            DuplicateKind::Overlapping,
            DuplicateKind::Near,
        ],
    );
}

/// The check itself finds what is missing.
#[test]
fn check_detects_a_lost_line() {
    let blocks = [
        Block::code(Lang::Rust, "a.rs", "one\ntwo\nthree\n"),
        Block::code(Lang::Rust, "b.rs", "one\n2\nthree\n"),
        Block::code(Lang::Rust, "c.rs", "three\none\n"),
        Block::code(Lang::Rust, "d.rs", "one\nthree"),
    ];
    for relation in [DuplicateKind::Equal, DuplicateKind::Contained, DuplicateKind::Near] {
        for (index, is_right) in [(1, false), (2, false), (3, relation != DuplicateKind::Equal)] {
            let covered = Replacement { by: 0, relation, in_place: false, tokens_saved: 0 };
            let covered = [(index, covered)].into();
            let duplicates = Replacements { covered, ..Replacements::default() };
            let checked = Checked::new(&blocks, &blocks, &duplicates);
            assert_eq!(checked.wrong.is_empty(), is_right, "{index} {relation}: {checked:?}");
        }
    }
}
