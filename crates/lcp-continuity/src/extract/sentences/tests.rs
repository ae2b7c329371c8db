use proptest::prelude::*;

use super::{check_box, sentences};

fn texts(text: &str) -> Vec<&str> {
    sentences(text).collect()
}

#[test]
fn end_punctuation_ends_sentences() {
    assert_eq!(
        texts("  One. Two!  Three? (Four.) Five…  Six "),
        ["One.", "Two!", "Three?", "(Four.)", "Five…", "Six"]
    );
    assert_eq!(
        texts("He said \"stop.\" Then **go!** So"),
        ["He said \"stop.\"", "Then **go!**", "So"]
    );
    assert_eq!(texts("一。二！「三。」四"), ["一。", "二！", "「三。」", "四"]);
    assert_eq!(texts("Été? Ça va. Ünder"), ["Été?", "Ça va.", "Ünder"]);
}

#[test]
fn other_periods_do_not_end_sentences() {
    for one in [
        "Use 1.5 of https://example.com/a.b?c=d in src/main.rs.",
        "See e.g. the docs, i.e. that page, cf. Dr. No.",
        "Lists, tables, etc. are fine.",
        "Step no. 5 of vol. 2 is last.",
        "Well... it works.",
        "Call `a. b. C` there.",
        "At 5 p.m. it ends.",
        "v1.2.3 is out",
    ] {
        assert_eq!(texts(one), [one]);
    }
    assert_eq!(
        texts("Tables etc. Then lists. No. It is."),
        ["Tables etc.", "Then lists.", "No.", "It is."]
    );
}

#[test]
fn unwrapped_lines_end_sentences() {
    assert_eq!(texts("one\ntwo\r\n\r\nthree"), ["one", "two", "three"]);
    let wrapped = "This line is as long as lines are that get wrapped,\n  and goes on here. End";
    assert_eq!(texts(wrapped), [&wrapped[..wrapped.len() - 4], "End"]);
    let list = "This line is as long as lines are that get wrapped,\n- but this is an item";
    assert_eq!(texts(list).len(), 2);
    let labelled = "This line is as long as lines are that get wrapped,\nNote: this is another";
    assert_eq!(texts(labelled).len(), 2);
}

#[test]
fn list_and_heading_markers_are_stripped() {
    assert_eq!(
        texts("# Title #\n- a\n  * b\n12. c\n3) d\n- [ ] e\n* [x] f\n☐ g\n---\n1.5 h"),
        ["Title", "a", "b", "c", "d", "e", "f", "g", "1.5 h"]
    );
}

#[test]
fn code_quotes_edits_and_tags_are_skipped() {
    assert_eq!(texts("a\n```rust\nb\n```\nc\n~~~~\nd\n~~~\ne\n~~~~\nf"), ["a", "c", "f"]);
    assert_eq!(texts("a\n> b\n>c\nd ``` e"), ["a", "d ``` e"]);
    assert_eq!(texts("a\n```\nnever closed"), ["a"]);
    assert_eq!(texts("a\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE\nd"), ["a", "d"]);
    assert_eq!(
        texts("<task id=\"1\">\na\n</task>\n<b>c</b>\n<https://x.y>"),
        ["a", "c", "<https://x.y>"]
    );
    assert_eq!(texts("a\n<system-reminder>\nb\n\nc\n</system-reminder> d\ne"), ["a", "d", "e"]);
    assert_eq!(texts("<system-reminder>\na"), ["a"]);
    assert_eq!(texts("<task-notification>\na\n</task-notification>\nb"), ["b"]);
    assert_eq!(texts("a\n[Request interrupted by user for tool use]\nb"), ["a", "b"]);
    assert_eq!(texts("Vec<String> is x < y"), ["Vec<String> is x < y"]);
}

#[test]
fn check_box_parses_ticked_and_open_boxes() {
    assert_eq!(check_box("[ ] a "), Some((false, "a ")));
    assert_eq!(check_box("[X]  a"), Some((true, "a")));
    assert_eq!(check_box("☒ a"), Some((true, "a")));
    for none in ["[y] a", "[x](a)", "[x]a", "x", "☐a", "["] {
        assert_eq!(check_box(none), None, "{none}");
    }
}

proptest! {
    #[test]
    fn sentences_are_ordered_slices_without_outer_whitespace(text in "(\\PC|[ .!?\n>`*<-]|- \\[ \\] |```\n|e\\.g\\. ){0,60}") {
        let mut rest = text.as_str();
        for sentence in sentences(&text) {
            let at = rest.find(sentence);
            prop_assert!(at.is_some());
            rest = &rest[at.unwrap() + sentence.len()..];
            prop_assert_eq!(sentence.trim(), sentence);
            prop_assert!(sentence.contains(char::is_alphanumeric));
        }
    }
}
