//! Texts that are nearly alike (RFC 0006 §7).

use lcp_dedup::{DedupLevel, Options, restore};
use lcp_types::{Block, DuplicateKind, FormatHint, Lang, Status};

use crate::support::{at, contents, covered, numbered, text, with};

fn doc(title: &'static str, text: String) -> Block<'static> {
    Block::document(title, text, FormatHint::Plain)
}

#[test]
fn text_with_every_line_in_another_is_removed() {
    let less = numbered(1, 30).replace("line 7 of the file\n", "");
    let blocks = [doc("a", numbered(1, 30)), doc("b", less)];
    let found = at(DedupLevel::Near, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
    assert_eq!(contents(&found.to_pack_blocks(&blocks)), [numbered(1, 30)]);
    assert!(covered(&at(DedupLevel::Overlap, &blocks)).is_empty());
}

#[test]
fn text_with_unique_lines_becomes_a_diff() {
    let other = numbered(1, 30).replace("line 7 ", "line seven ");
    let blocks = [doc("a", numbered(1, 30)), doc("b", other.clone())];
    let found = at(DedupLevel::Near, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
    let shown = String::from_utf8(text(&blocks, &found, 1).to_vec()).unwrap();
    let hunks = shown.strip_prefix("[a above, but for these changes]\n").unwrap();
    expect_test::expect![[r"
        @@ -7 +7 @@
        -line 7 of the file
        +line seven of the file
    "]]
    .assert_eq(hunks);
    assert_eq!(restore(numbered(1, 30).as_bytes(), hunks.as_bytes()).unwrap(), other.as_bytes());
    assert!(found.duplicates.tokens_saved() > 0);
}

#[test]
fn reordered_text_is_not_removed() {
    let mut lines: Vec<_> = numbered(1, 30).lines().map(|line| format!("{line}\n")).collect();
    lines.swap(3, 20);
    let blocks = [doc("a", numbered(1, 30)), doc("b", lines.concat())];
    let found = at(DedupLevel::Near, &blocks);
    // Every line stands in the other, in another order: that is no copy.
    assert!(found.duplicates.covered.values().all(|covered| covered.in_place));
}

#[test]
fn text_below_the_near_threshold_stays() {
    let half = numbered(1, 15) + &numbered(100, 115);
    let blocks = [doc("a", numbered(1, 30)), doc("b", half.clone())];
    assert!(covered(&at(DedupLevel::Near, &blocks)).is_empty());
    let options = Options { near_threshold: 0.95, ..Options::new(DedupLevel::Near) };
    let other = numbered(1, 30).replace("line 7 ", "line seven ");
    assert!(covered(&with(&[doc("a", numbered(1, 30)), doc("b", other)], &options)).is_empty());
}

#[test]
fn near_matches_are_not_chained() {
    // b is like a and c is like b, but c is not like a.
    let b = numbered(1, 30).replace("line 3 ", "x ").replace("line 4 ", "y ");
    let c = b.replace("line 13 ", "u ").replace("line 14 ", "v ").replace("line 15 ", "w ");
    let blocks = [doc("a", numbered(1, 30)), doc("b", b), doc("c", c)];
    let found = at(DedupLevel::Near, &blocks);
    assert!(found.duplicates.covered.get(&2).is_none_or(|covered| covered.by == 0));
}

#[test]
fn numbered_copy_is_never_removed() {
    let text = numbered(1, 30);
    let numbers: Vec<_> =
        text.lines().zip(1..).map(|(line, n)| format!("{n:6}\t{line}\n")).collect();
    let numbers = numbers.concat();
    let blocks = [
        Block::code(Lang::Rust, "a.rs", numbered(1, 30)),
        Block::tool_result("cat", Status::Ok, numbers.clone()),
    ];
    let found = at(DedupLevel::Near, &blocks);
    // Byte for byte they are other lines: nothing is dropped for them.
    assert!(found.duplicates.covered.values().all(|covered| covered.in_place));
}

#[test]
fn reindented_code_is_not_removed() {
    let flat = "if a:\n    f()\n    g()\nelse:\n    h()\n    i()\n    j()\n    k()\n    l()\n";
    let deep = flat.replace("    g()", "  g()");
    let blocks =
        [Block::code(Lang::Python, "a.py", flat), Block::code(Lang::Python, "b.py", deep.clone())];
    let found = at(DedupLevel::Near, &blocks);
    assert!(found.duplicates.covered.values().all(|covered| covered.in_place));
}
