//! Texts of which nothing is known, and what has no outline.

use expect_test::expect;
use lcp_ingest::outline::{InputKind, OutlineOptions, outline};
use lcp_types::Lang;

fn lines(count: usize) -> String {
    (1..=count).flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn text_outline_is_first_and_last_lines() {
    let options = OutlineOptions { first_lines: 2, last_lines: 1, ..OutlineOptions::default() };
    let outline = outline(InputKind::Text, &lines(100), &options).unwrap();
    expect![[r"
        line 1
        line 2
        … 97 lines
        line 100"]]
    .assert_eq(&outline);
}

#[test]
fn outline_is_absent_unless_smaller() {
    let options = OutlineOptions::default();
    for text in ["", "\n", "a", &lines(20), &lines(22)] {
        assert_eq!(outline(InputKind::Text, text, &options), None);
    }
    assert!(outline(InputKind::Text, &lines(30), &options).is_some());
    assert_eq!(
        outline(InputKind::Code(Lang::Rust), "pub struct A {\n    pub b: u8,\n}\n", &options),
        None
    );
}

#[test]
fn code_without_grammar_or_declarations_uses_head_and_tail() {
    let options = OutlineOptions::default();
    let expected = outline(InputKind::Text, &lines(100), &options);
    for lang in [Lang::Sql, Lang::Other(200), Lang::Rust, Lang::Go] {
        assert_eq!(outline(InputKind::Code(lang), &lines(100), &options), expected);
    }
    assert_eq!(outline(InputKind::Document, &lines(100), &options), expected);
}

#[test]
fn long_lines_are_truncated() {
    let text = format!("fn a() {{}}\nconst B: &str = \"{}\";\nfn c() {{}}\n", "é".repeat(9_000));
    let outline = outline(InputKind::Code(Lang::Rust), &text, &OutlineOptions::default());
    assert_eq!(outline.as_deref(), Some("fn a()\nconst B: &str = …\nfn c()"));
    let text = format!("first\n{}\nlast\n", "é".repeat(9_000));
    let outline =
        lcp_ingest::outline::outline(InputKind::Text, &text, &OutlineOptions::default()).unwrap();
    assert!(outline.len() < 1_000 && outline.contains("é …\nlast"), "{outline}");
}

#[test]
fn carriage_returns_are_removed() {
    let text = "# A\r\n\r\nOne. Two, which is rather long.\r\n";
    let outline = outline(InputKind::Document, text, &OutlineOptions::default());
    assert_eq!(outline.as_deref(), Some("# A\nOne."));
}
