//! Results of repeated calls (RFC 0012 §1): a later result replaces an earlier one only if it
//! contains its lines, or is a newer and complete read of the same lines.

use std::collections::HashSet;
use std::fmt::Write as _;

use lcp_dedup::{DedupLevel, Options, dedup};
use lcp_types::{Block, DuplicateKind, Priority, Status};
use proptest::prelude::*;

use crate::support::{at, check, contents, counter, covered, priority, tag};

/// Blocks of a history in which each result has the same arguments.
fn history(results: Vec<Block<'static>>) -> Vec<Block<'static>> {
    let mut blocks = Vec::new();
    for (number, result) in results.into_iter().enumerate() {
        let target = blocks.len() as u64;
        blocks.push(result);
        blocks.push(tag(target, "args={\"path\":\"a.txt\"}"));
        blocks.push(tag(target, &format!("tool_call_id=c{number}")));
    }
    blocks
}

/// A file with a number before each line.
fn read_of(version: u32, lines: u32) -> String {
    let mut text = String::new();
    for n in 1..=lines {
        writeln!(text, "{n:>6}\tversion {version} of line {n}").unwrap();
    }
    text
}

fn read(text: impl Into<String>) -> Block<'static> {
    Block::tool_result("Read", Status::Ok, text.into())
}

fn run(text: &'static str) -> Block<'static> {
    Block::tool_result("Bash", Status::Ok, text)
}

/// Returns the covered results by their number, with the relation and the covering result.
fn replaced(results: Vec<Block<'static>>) -> Vec<(usize, DuplicateKind, usize)> {
    let found = at(DedupLevel::Overlap, &history(results));
    covered(&found).into_iter().map(|(index, relation, by)| (index / 3, relation, by / 3)).collect()
}

#[test]
fn newer_read_replaces_the_older_one() {
    let blocks = history(vec![read(read_of(1, 40)), read(read_of(2, 40))]);
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Superseded, 3)]);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks))[0],
        "[outdated: the newer one is the result of Read #c1 below]"
    );
    assert!(covered(&at(DedupLevel::Exact, &blocks)).is_empty());
}

#[test]
fn restored_file_is_the_newest_state() {
    let versions = [1, 2, 1].map(|version| read(read_of(version, 40)));
    assert_eq!(
        replaced(versions.to_vec()),
        [(0, DuplicateKind::Superseded, 2), (1, DuplicateKind::Superseded, 2)]
    );
}

#[test]
fn message_in_place_of_the_file_replaces_nothing() {
    for message in [
        "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
        "Request timed out after 30 s",
        "Output too large (96 KB). Saved to /tmp/out.txt. Preview:\n     1\tversion 2 of line 1\n",
        "1\tversion 2 of line 1\n2\tversion 2 of line 2\n",
        "",
    ] {
        assert_eq!(replaced(vec![read(read_of(1, 40)), read(message)]), [], "{message}");
    }
    let noted = [1, 2].map(|version| read(read_of(version, 40) + "\n(File has more lines)\n"));
    assert_eq!(replaced(noted.to_vec()), []);
}

#[test]
fn read_of_other_lines_replaces_nothing() {
    let rest = read_of(2, 40).split_inclusive('\n').skip(1).collect::<String>();
    assert_eq!(replaced(vec![read(read_of(1, 40)), read(rest)]), []);
}

#[test]
fn failed_read_does_not_replace_a_successful_one() {
    let failed = Block::tool_result("Read", Status::Error, read_of(2, 40));
    assert_eq!(replaced(vec![read(read_of(1, 40)), failed.clone()]), []);
    assert_eq!(replaced(vec![failed, read(read_of(1, 40))]), []);
}

#[test]
fn passing_run_does_not_replace_a_failing_one() {
    let failing = run("running 2 tests\ntest a ... ok\ntest b ... FAILED\nexpected 1, got 2\n");
    let passing = run("running 2 tests\ntest a ... ok\ntest b ... ok\n");
    assert_eq!(replaced(vec![failing, passing]), []);
}

#[test]
fn next_part_of_an_output_does_not_replace_the_previous_one() {
    let part = |text| Block::tool_result("write_stdin", Status::Ok, text);
    assert_eq!(replaced(vec![part("Compiling a\n"), part("Compiling b\n"), part("Done\n")]), []);
}

#[test]
fn output_with_all_earlier_lines_covers_the_earlier_one() {
    let first = "Compiling the first crate of the workspace\nCompiling the second crate of the workspace\nCompiling the third\n";
    let longer = "Compiling the first crate of the workspace\nwarning: unused\nCompiling the second crate of the workspace\nCompiling the third\nFinished\n";
    let blocks = history(vec![run(first), run(longer)]);
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(covered(&found), [(0, DuplicateKind::Contained, 3)]);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks))[0],
        "[all of it stands in the result of Bash #c1 below]"
    );
    let failed = Block::tool_result("Bash", Status::Error, longer);
    assert_eq!(replaced(vec![run(first), failed]), []);
}

#[test]
fn critical_result_is_covered_only_by_another_critical_one() {
    let mut blocks = history(vec![read(read_of(1, 40)), read(read_of(2, 40))]);
    blocks.push(priority(0, Priority::Critical));
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn results_of_other_arguments_are_not_compared() {
    let results = [read(read_of(1, 40)), read(read_of(2, 40))];
    let [one, two] = results.clone();
    let other = [one, two, tag(0, "args=x"), tag(1, "args=y")];
    assert!(covered(&at(DedupLevel::Overlap, &other)).is_empty());
    assert!(covered(&at(DedupLevel::Overlap, &results)).is_empty());
    let [one, two] = results;
    let empty = [one, two, tag(0, "args="), tag(1, "args=")];
    assert_eq!(covered(&at(DedupLevel::Overlap, &empty)), [(0, DuplicateKind::Superseded, 1)]);
}

/// A result in a random history, as its tool would know it.
#[derive(Clone, Debug)]
struct Event {
    tool: &'static str,
    args: u8,
    text: String,
    status: Status,
    /// The number of the file's lines that the text shows completely; `None` if it shows anything
    /// else.
    lines: Option<usize>,
}

impl Event {
    /// Returns whether this result shows a newer state of the lines that `earlier` shows.
    fn is_newer_state_of(&self, earlier: &Self) -> bool {
        let same_file = self.tool == earlier.tool && self.args == earlier.args;
        same_file && self.lines.zip(earlier.lines).is_some_and(|(newer, older)| newer >= older)
    }
}

fn event() -> impl Strategy<Value = Event> {
    let read = (0..2u8, 0..3u32, 0..8u8).prop_map(|(args, version, kind)| {
        let full = read_of(version, 20 + version);
        let (text, status, is_read) = match kind {
            0 => ("Wasted call — file unchanged.".into(), Status::Ok, false),
            1 => ("Request timed out".into(), Status::Timeout, false),
            2 => (full[..full.len() / 2].to_owned(), Status::Ok, true),
            3 => (format!("{}\nOutput too large", &full[..90]), Status::Ok, false),
            4 => (full + "\n[more lines are not shown]\n", Status::Ok, false),
            _ => (full, Status::Ok, true),
        };
        let lines = is_read.then_some(text.matches('\n').count());
        Event { tool: "Read", args, text, status, lines }
    });
    let lines = prop::collection::vec(0..6u8, 0..8);
    let statuses = prop::sample::select(&[Status::Ok, Status::Error][..]);
    let tools = prop::sample::select(&["Bash", "write_stdin", "grep"][..]);
    let other = (tools, 0..2u8, lines, statuses).prop_map(|(tool, args, lines, status)| {
        let texts = lines.iter().map(|n| format!("some line of output, number {n}\n"));
        let text = texts.collect::<Vec<_>>().concat();
        Event { tool, args, text, status, lines: None }
    });
    prop_oneof![read, other]
}

proptest! {
    /// Each line of each result is in the deduplicated text, or a newer state of the same file is.
    #[test]
    fn tool_histories_lose_no_line(events in prop::collection::vec(event(), 0..16)) {
        let mut blocks = Vec::new();
        for event in &events {
            let target = blocks.len() as u64;
            blocks.push(Block::tool_result(event.tool, event.status, event.text.clone()));
            blocks.push(tag(target, &format!("args={}", event.args)));
        }
        for level in DedupLevel::ALL {
            let found = dedup(&blocks, &Options::new(level), &counter()).unwrap();
            check(&blocks, &found);
            let pack = found.to_pack_blocks(&blocks);
            // A diff shows a line with a `+` before it, or leaves it in the block that it names.
            let is_near = level == DedupLevel::Near;
            let texts = contents(&pack);
            let shown: HashSet<&str> = texts.iter().flat_map(|text| text.lines()).collect();
            for (at, event) in events.iter().enumerate() {
                let is_replaced = events[at + 1..].iter().any(|newer| {
                    newer.is_newer_state_of(event) && newer.text.lines().all(|line| shown.contains(line))
                });
                let is_shown = |line: &str| {
                    shown.contains(line) || (is_near && shown.contains(format!("+{line}").as_str()))
                };
                prop_assert!(
                    is_replaced || event.text.lines().all(is_shown),
                    "{level:?}: result {at} is lost: {event:?}"
                );
            }
        }
    }
}
