//! Texts that are nearly alike (RFC 0006 §7).

use std::fmt::Write as _;

use lcp_dedup::{DedupLevel, DedupResult, Options, detect, restore};
use lcp_types::{Block, DataFormat, DuplicateKind, FormatHint, Lang, Status};

use crate::support::{at, contents, counter, covered, numbered, text, with};

fn doc(title: &'static str, text: String) -> Block<'static> {
    Block::document(title, text, FormatHint::Plain)
}

/// Code in blocks, with `unit` for each depth.
fn indented(unit: &str) -> String {
    let mut code = String::new();
    for number in 1..=6 {
        let _ = writeln!(code, "{unit}if value_{number} > limit:\n{unit}{unit}handle({number})\n");
        let _ = writeln!(code, "{unit}return total_{number}");
    }
    code
}

/// The hunks in place of a block.
fn hunks(blocks: &[Block<'static>], found: &DedupResult<'static>, index: usize) -> String {
    let stub = String::from_utf8(text(blocks, found, index).to_vec()).unwrap();
    stub.split_once('\n').unwrap().1.to_owned()
}

/// Checks the stubs that the second of two texts becomes, in either order.
#[track_caller]
fn check_stubs(lang: Lang, original: &str, changed: &str, stubs: [&str; 2]) {
    for ((first, second), stub) in [(original, changed), (changed, original)].into_iter().zip(stubs)
    {
        let blocks =
            [Block::code(lang, "a", first.to_owned()), Block::code(lang, "b", second.to_owned())];
        // `at` checks that the stub restores the text.
        let found = at(DedupLevel::Near, &blocks);
        assert_eq!(String::from_utf8_lossy(text(&blocks, &found, 1)), stub, "{lang:?}");
        assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
        assert!(found.duplicates.tokens_saved() > 0);
        // A second run finds nothing.
        let once = found.to_pack_blocks(&blocks);
        assert!(covered(&at(DedupLevel::Near, &once)).is_empty());
    }
}

/// Languages where indentation has a meaning, and others.
const LANGS: [Lang; 6] =
    [Lang::Rust, Lang::Python, Lang::Yaml, Lang::Markdown, Lang::Java, Lang::Unknown];

#[test]
fn text_with_uniform_other_indentation_becomes_one_line() {
    let four = indented("    ");
    for lang in LANGS {
        let stubs = [
            "[a above, same except for indentation (tabs for 4 spaces)]",
            "[a above, same except for indentation (4 spaces for each tab)]",
        ];
        check_stubs(lang, &four, &indented("\t"), stubs);
        let stubs = [
            "[a above, same except for indentation (2 spaces for 4)]",
            "[a above, same except for indentation (4 spaces for 2)]",
        ];
        check_stubs(lang, &four, &indented("  "), stubs);
    }
}

#[test]
fn text_with_other_line_endings_becomes_one_line() {
    let code = indented("    ");
    for lang in LANGS {
        let stubs = [
            "[a above, same except for line endings (CRLF for LF)]",
            "[a above, same except for line endings (LF for CRLF)]",
        ];
        check_stubs(lang, &code, &code.replace('\n', "\r\n"), stubs);
    }
}

#[test]
fn text_with_other_trailing_space_becomes_one_line() {
    let code = indented("    ");
    for lang in LANGS {
        let removed = "[a above, same except for trailing white space (removed)]";
        let added = "[a above, same except for trailing white space (2 spaces on each line)]";
        check_stubs(lang, &code, &code.replace('\n', "  \n"), [added, removed]);
        let added = "[a above, same except for trailing white space \
                     (only 1 space on lines 1, 5, 9, 13, 17, 21)]";
        check_stubs(lang, &code, &code.replace(":\n", ": \n"), [added, removed]);
    }
}

#[test]
fn other_white_space_and_few_changed_lines_become_one_diff() {
    let (four, two) = (indented("    "), indented("  ").replace("handle(3)", "handle(33)"));
    let blocks = [Block::code(Lang::Python, "a", four), Block::code(Lang::Python, "b", two)];
    let found = at(DedupLevel::Near, &blocks);
    expect_test::expect![[r"
        [a above, same except for indentation (2 spaces for 4) and these changes]
        @@ -10 +10 @@
        -    handle(3)
        +    handle(33)
    "]]
    .assert_eq(&String::from_utf8_lossy(text(&blocks, &found, 1)));
}

#[test]
fn text_with_irregular_other_indentation_stays() {
    for lang in LANGS {
        let even = indented("    ");
        // Equal indentations become different ones.
        let lines = even.lines().enumerate();
        let odd: Vec<_> = lines
            .map(|(number, line)| format!("{}{}\n", " ".repeat(number * 7 % 5), line.trim_start()))
            .collect();
        let blocks = [Block::code(lang, "a", even), Block::code(lang, "b", odd.concat())];
        let found = detect(&blocks, &Options::new(DedupLevel::Near), &counter()).unwrap();
        assert_eq!(found.near_unreplaced, [(1, 0)], "{lang:?}");
        assert!(found.is_empty());
    }
}

#[test]
fn text_with_changed_comments_becomes_a_diff() {
    for (lang, [start, end]) in [
        (Lang::Rust, ["// ", ""]),
        (Lang::JavaScript, ["/* ", " */"]),
        (Lang::Python, ["# ", ""]),
        (Lang::Sql, ["-- ", ""]),
        (Lang::Html, ["<!-- ", " -->"]),
    ] {
        // All comments differ, and without them the texts are equal.
        let code = |comment: &str| {
            let mut code = String::new();
            for number in 1..=8 {
                let _ = writeln!(code, "{start}{comment} {number}{end}");
                for part in ["first", "second", "third", "fourth"] {
                    let _ = writeln!(code, "compute_{part}_value_of(table_{number}, row_{number})");
                }
            }
            code
        };
        let blocks = [Block::code(lang, "a", code("x")), Block::code(lang, "b", code("y"))];
        let found = at(DedupLevel::Near, &blocks);
        assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)], "{lang:?}");
        assert!(text(&blocks, &found, 1).starts_with(b"[a above, but for these changes]\n@@ "));
        // A diff of long comments has more than half the tokens.
        let [one, other] = ["one ", "two "].map(|word| code(&word.repeat(30)));
        let blocks = [Block::code(lang, "a", one), Block::code(lang, "b", other)];
        let found = detect(&blocks, &Options::new(DedupLevel::Near), &counter()).unwrap();
        assert_eq!(found.near_unreplaced, [(1, 0)], "{lang:?}");
        assert!(found.is_empty());
    }
}

#[test]
fn data_becomes_one_line_and_never_a_diff() {
    let data = |text: String| Block::structured_data(DataFormat::Yaml, text);
    let blocks = [data(indented("    ")), data(indented("  "))];
    let found = at(DedupLevel::Near, &blocks);
    let stub = "[the data above, same except for indentation (2 spaces for 4)]";
    assert_eq!(String::from_utf8_lossy(text(&blocks, &found, 1)), stub);
    let blocks = [data(indented("    ")), data(indented("  ").replace("(3)", "(33)"))];
    let found = detect(&blocks, &Options::new(DedupLevel::Near), &counter()).unwrap();
    assert_eq!(found.near_unreplaced, [(1, 0)]);
    assert!(found.is_empty());
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
    // Every line stands in the other, in another order: that is no copy. The two lines that moved
    // are shown as changes.
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
    assert_eq!(hunks(&blocks, &found, 1).matches("@@ -").count(), 2);
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
    // b is like a and c is like b, but c is not like a. Its nearest text is a diff itself, which
    // covers nothing.
    let b = numbered(1, 30).replace("line 3 ", "x ").replace("line 4 ", "y ");
    let c = b.replace("line 13 ", "u ").replace("line 14 ", "v ").replace("line 15 ", "w ");
    let blocks = [doc("a", numbered(1, 30)), doc("b", b), doc("c", c)];
    let found = at(DedupLevel::Near, &blocks);
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
    // Without a, c is a diff against b.
    let found = at(DedupLevel::Near, &blocks[1..]);
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
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
    let found = detect(&blocks, &Options::new(DedupLevel::Near), &counter()).unwrap();
    // They are found to be near. But byte for byte all lines differ, so both remain.
    assert_eq!(found.near_unreplaced, [(1, 0)]);
    assert!(found.is_empty());
}

#[test]
fn reindented_code_is_not_removed() {
    let flat = format!("if a:\n    f()\n    g()\nelse:\n{}", indented("    "));
    let deep = flat.replace("    g()", "        g()");
    let blocks = [Block::code(Lang::Python, "a.py", flat), Block::code(Lang::Python, "b.py", deep)];
    let found = at(DedupLevel::Near, &blocks);
    // The line with another indentation is shown as a change.
    assert_eq!(covered(&found), [(1, DuplicateKind::Near, 0)]);
    assert_eq!(hunks(&blocks, &found, 1), "@@ -3 +3 @@\n-    g()\n+        g()\n");
}
