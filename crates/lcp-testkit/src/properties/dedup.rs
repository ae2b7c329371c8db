//! Deduplication of sessions with repeated content.

#[path = "../../../lcp-dedup/tests/it/support.rs"]
#[allow(clippy::pedantic, dead_code, reason = "a module of tests, of which less is needed here")]
mod support;

use std::fmt::Write;

use lcp_dedup::{DedupLevel, Options, Survivor};
use lcp_tokens::HeuristicEstimator;
use lcp_types::{Block, DiffHunk, FormatHint, Lang, Priority, Role, Status};

use super::input::Input;

/// Returns lines of one of several versions of a file, with the first and last line number.
fn lines(input: &mut Input<'_>) -> (String, u32, u32) {
    let (version, first, more) = (input.below(3), 1 + input.below(40), input.below(24));
    let mut text = String::new();
    for n in first..=first + more {
        match n % 7 {
            0 if version > 0 => writeln!(text, "changed {version} at {n}"),
            3 => writeln!(text, "}}"),
            5 => writeln!(text),
            _ => writeln!(text, "let line = {n};"),
        }
        .expect("a String takes all");
    }
    if input.byte() > 230 {
        text.truncate(text.trim_end().len());
    }
    let line = |n| u32::try_from(n).expect("small");
    (text, line(first), line(first + more))
}

fn block(input: &mut Input<'_>) -> Block<'static> {
    let path = input.one_of(&["a.rs", "b.py", "c"]);
    let (text, first, last) = lines(input);
    match input.below(10) {
        0..=4 => Block::code_lines(Lang::Rust, path, text, first, last),
        // The range does not fit the text.
        5 => Block::code_lines(Lang::Rust, path, text, last, first),
        6 => Block::code(Lang::Rust, path, text),
        7 => Block::tool_result(input.one_of(&["read", "test"]), Status::Ok, text),
        8 if input.flag() => Block::conversation(Role::User, text),
        8 => Block::document("note", text, FormatHint::Plain),
        _ if input.flag() => Block::diff(path, vec![DiffHunk::new(first, first, text)]),
        _ => input.block(),
    }
}

/// Checks that no unique line is lost, and that a second run gives the same result.
pub fn dedup(data: &[u8]) {
    let mut input = Input::new(data);
    let options = Options {
        survivor: input.one_of(&Survivor::ALL[..]),
        merge_overlapping: input.flag(),
        merged_bytes: 50 + input.below(2_000),
        overlap_threshold: f64::from(input.byte() % 11) / 10.0,
        ..Options::new(input.one_of(&DedupLevel::ALL[..]))
    };
    let mut blocks = Vec::new();
    while !input.is_empty() && blocks.len() < 24 {
        let target = blocks.len() as u64;
        blocks.push(block(&mut input));
        match input.below(12) {
            0 => blocks.push(support::priority(target, Priority::Critical)),
            1 => blocks.push(support::priority(target, Priority::Low)),
            2 => blocks.push(support::rank(target, "0.5")),
            3 => blocks.push(support::tag(target, input.one_of(&["pinned", "args=x", "args=y"]))),
            _ => {}
        }
    }
    let found = lcp_dedup::dedup(&blocks, &options, &HeuristicEstimator).expect("any blocks");
    support::check(&blocks, &found);
    let again = lcp_dedup::dedup(&blocks, &options, &HeuristicEstimator).expect("any blocks");
    assert_eq!(
        (&again.duplicates, &again.changed_blocks),
        (&found.duplicates, &found.changed_blocks)
    );
    let pack = found.to_pack_blocks(&blocks);
    lcp_encoder::encode(&pack, lcp_encoder::EncodeOptions::default()).expect("smaller than before");
}
