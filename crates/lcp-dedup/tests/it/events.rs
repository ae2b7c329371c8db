//! Turns and results: what happened keeps its place (RFC 0006 §3).

use lcp_dedup::DedupLevel;
use lcp_types::{Block, DuplicateKind, Lang, Role, Status};

use crate::support::{at, contents, covered, file, tag};

fn long() -> String {
    "a line that somebody pasted, long enough to be worth another\n".repeat(8)
}

#[test]
fn repeated_result_becomes_a_reference_line() {
    let result = || Block::tool_result("cargo_test", Status::Ok, long());
    let blocks = [result(), file("a.rs", "fn a() {}\n"), result()];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(covered(&found), [(2, DuplicateKind::Equal, 0)]);
    assert!(found.duplicates.covered[&2].in_place);
    let pack = found.to_pack_blocks(&blocks);
    assert_eq!(pack.len(), 3);
    assert_eq!(
        contents(&pack)[2],
        "[the same as the result of cargo_test that begins \"a line that somebody pasted, l\" above]"
    );
}

#[test]
fn reference_line_names_the_tool_call() {
    let result = |text: String| Block::tool_result("bash", Status::Ok, text);
    let blocks = [
        result(long()),
        tag(0, "tool_call_id=c1"),
        result(long() + "and another\n"),
        tag(2, "tool_call_id=c2"),
        result(long()),
        tag(4, "tool_call_id=c3"),
    ];
    let found = at(DedupLevel::Exact, &blocks);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks))[2],
        "[the same as the result of bash #c1 above]"
    );
}

#[test]
fn short_repeated_turns_are_not_covered() {
    let yes = || Block::conversation(Role::User, "yes");
    let turns = [yes(), Block::conversation(Role::Assistant, "And now?"), yes(), yes()];
    assert!(covered(&at(DedupLevel::Near, &turns)).is_empty());
}

#[test]
fn long_repeated_turns_refer_to_the_newest() {
    let turn = || Block::conversation(Role::User, long());
    let blocks = [turn(), turn(), turn()];
    let found = at(DedupLevel::Exact, &blocks);
    // The newest covers the others: it is never covered.
    assert_eq!(covered(&found), [(0, DuplicateKind::Equal, 2), (1, DuplicateKind::Equal, 2)]);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks))[0],
        "[the same as the turn of user that begins \"a line that somebody pasted, l\" below]"
    );
}

#[test]
fn system_turns_are_never_covered() {
    let system = || Block::conversation(Role::System, long());
    assert!(covered(&at(DedupLevel::Near, &[system(), system()])).is_empty());
}

#[test]
fn reference_line_labels_are_single_line_and_bounded() {
    let name = format!("tool\n\u{1b}[31m{}", "x".repeat(500));
    let result = || Block::tool_result(name.clone(), Status::Ok, long());
    let blocks = [result(), result()];
    let found = at(DedupLevel::Exact, &blocks);
    let line = &contents(&found.to_pack_blocks(&blocks))[1];
    assert_eq!(line.lines().count(), 1);
    assert!(!line.chars().any(char::is_control));
    assert!(line.chars().count() < 200, "{line}");
}

/// A line stands for a content that is at least twice as long.
#[test]
fn content_under_twice_its_reference_line_stays() {
    let result = |length: usize| {
        let text = "x".repeat(length);
        [
            Block::tool_result("t", Status::Ok, text.clone()),
            Block::tool_result("t", Status::Ok, text),
        ]
    };
    let is_referred = |length| !covered(&at(DedupLevel::Exact, &result(length))).is_empty();
    let found = at(DedupLevel::Exact, &result(500));
    let line = contents(&found.to_pack_blocks(&result(500)))[1].len();
    assert!(!is_referred(2 * line) && is_referred(2 * line + 1), "{line}");
}

/// The line names the range that the other block has by now.
#[test]
fn reference_line_names_the_grown_range() {
    let lines = crate::support::numbered(1, 50);
    let blocks = [
        crate::support::chunk("a.rs", 1, 50),
        crate::support::chunk("a.rs", 25, 75),
        Block::tool_result("read", Status::Ok, lines),
    ];
    let found = at(DedupLevel::Overlap, &blocks);
    assert_eq!(
        contents(&found.to_pack_blocks(&blocks))[1],
        "[all of it stands in a.rs:1-75 above]"
    );
}

/// The result is equal to a file, and a copy of the file under a long path covers both.
#[test]
fn reference_to_a_long_path_does_not_call_a_copy_outdated() {
    let text =
        "let a = 1;\nlet b = 2;\nlet c = 3;\nlet d = 4;\nlet e = 5;\nlet f = 6;\nlet g = 7;\n";
    let path = format!("src/{}.rs", "long".repeat(26));
    let blocks = [
        Block::code(Lang::Rust, path, format!("{text}let h = 8;\n")),
        tag(0, "rank=1"),
        file("a.rs", text),
        Block::tool_result("cat", Status::Ok, text),
    ];
    let found = at(DedupLevel::Near, &blocks);
    assert_eq!(covered(&found), [(2, DuplicateKind::Near, 0), (3, DuplicateKind::Near, 0)]);
    let pack = found.to_pack_blocks(&blocks);
    let reference = contents(&pack).pop().unwrap();
    assert!(reference.starts_with("[all of it stands in src/longlong"), "{reference}");
}
