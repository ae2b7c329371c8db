//! Properties of changes of white space, and their descriptions.

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::line::WIDTH_MAX;
use super::*;

fn any_blanks() -> impl Strategy<Value = Blanks> {
    (1..=WIDTH_MAX, any::<bool>()).prop_map(|(count, is_tab)| Blanks { count, is_tab })
}

fn any_indentation() -> impl Strategy<Value = Indentation> {
    let width = 1..=WIDTH_MAX;
    prop_oneof![
        width.clone().prop_map(|width| Indentation::Tabs { width }),
        width.clone().prop_map(|width| Indentation::Spaces { width }),
        (width.clone(), width).prop_map(|(new, old)| Indentation::Scaled { new, old }),
        any_blanks().prop_map(Indentation::More),
        any_blanks().prop_map(Indentation::Fewer),
    ]
}

fn any_trailing() -> impl Strategy<Value = Trailing> {
    let runs = vec((1..9_usize, 0..4_usize, any_blanks()), 1..6).prop_map(|gaps| {
        let mut next = 1;
        let mut runs = Vec::new();
        for (gap, more, blanks) in gaps {
            let first = next + gap;
            next = first + more + 1;
            runs.push((first..=first + more, blanks));
        }
        Trailing::Lines(runs)
    });
    prop_oneof![Just(Trailing::Removed), any_blanks().prop_map(Trailing::EachLine), runs]
}

fn any_change() -> impl Strategy<Value = SpaceChange> {
    let ending = select(&[Ending::Lf, Ending::CrLf][..]);
    (
        prop::option::of(any_indentation()),
        prop::option::of(any_trailing()),
        prop::option::of(ending),
        any::<Option<bool>>(),
    )
        .prop_map(|(indentation, trailing, ending, final_newline)| SpaceChange {
            indentation,
            trailing,
            ending,
            final_newline,
        })
}

/// Generates texts with any white space, and others with characters of descriptions.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let part = select(&["a", "b c", " ", "    ", "\t", "\r", "\n", "\n", "\r\n", "\u{a0}"][..]);
    vec(part, 0..40).prop_map(|parts| parts.concat().into_bytes())
}

/// A text with an indentation of `unit` per depth. No two lines have the same content.
fn code(depths: &[u8], unit: &str, trailing: &str, ending: &str) -> Vec<u8> {
    let mut text = String::new();
    for (number, depth) in depths.iter().enumerate() {
        // Some lines are blank.
        if *depth < 5 {
            text += &unit.repeat((*depth).into());
            let _ = write!(text, "line {number}");
        }
        text = text + trailing + ending;
    }
    text.into_bytes()
}

proptest! {
    #[test]
    fn descriptions_parse_back(change in any_change()) {
        let parts = change.describe();
        let parts: Vec<_> = parts.iter().map(String::as_str).collect();
        prop_assert_eq!(SpaceChange::parse(&parts), Some(change));
    }

    #[test]
    fn changed_text_has_the_same_content_and_a_bounded_length(
        text in any_text(),
        change in any_change(),
    ) {
        let changed = change.apply(&text);
        let content = |text: &[u8]| -> Vec<u8> {
            text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect()
        };
        prop_assert_eq!(content(&text), content(&changed));
        prop_assert!(changed.len() <= 64 * text.len().max(1));
    }

    #[test]
    fn inferred_changes_restore_uniform_changes(
        depths in vec(0..7_u8, 2..30),
        units in select(&[("    ", "\t"), ("\t", "  "), ("    ", "  "), ("  ", "   "), ("\t", "\t")][..]),
        trailing in select(&[("", ""), ("  ", ""), ("", "\t"), ("", "  "), (" ", "\t")][..]),
        endings in select(&[("\n", "\n"), ("\n", "\r\n"), ("\r\n", "\n")][..]),
        final_newlines in any::<(bool, bool)>(),
    ) {
        // The last line has content, so that it is a line without its newline too.
        let depths = [&depths[..], &[1]].concat();
        let write = |unit, trailing, ending: &str, final_newline: bool| {
            let mut text = code(&depths, unit, trailing, ending);
            if !final_newline {
                text.truncate(text.len() - ending.len());
            }
            text
        };
        let covering = write(units.0, trailing.0, endings.0, final_newlines.0);
        let text = write(units.1, trailing.1, endings.1, final_newlines.1);
        let change = SpaceChange::infer(&covering, &text);
        prop_assert_eq!(
            String::from_utf8(change.apply(&covering)).unwrap(),
            String::from_utf8(text).unwrap(),
            "{:?}", change
        );
    }

    #[test]
    fn any_two_texts_have_a_change(covering in any_text(), text in any_text()) {
        let change = SpaceChange::infer(&covering, &text);
        change.apply(&covering);
        prop_assert!(SpaceChange::infer(&text, &text).is_empty());
    }
}

#[track_caller]
fn check(covering: &str, text: &str, description: &[&str]) {
    let change = SpaceChange::infer(covering.as_bytes(), text.as_bytes());
    assert_eq!(change.describe(), description);
    assert_eq!(String::from_utf8(change.apply(covering.as_bytes())).unwrap(), text);
}

#[test]
fn each_uniform_change_has_a_description() {
    let four = "a\n    b\n        c\n      d\n\n    e\n";
    check(four, &four.replace("    ", "\t"), &["indentation (tabs for 4 spaces)"]);
    let two = "a\n  b\n    c\n    d\n\n  e\n";
    check(two, &two.replace("  ", "    "), &["indentation (4 spaces for 2)"]);
    check("a\n\tb\n\t\tc\n", "a\n   b\n      c\n", &["indentation (3 spaces for each tab)"]);
    check("a\n  b\n", "    a\n      b\n", &["indentation (4 more spaces)"]);
    check("\ta\n\t\tb\n", "a\n\tb\n", &["indentation (1 fewer tab)"]);
    check("a\nb\n", "a\r\nb\r\n", &["line endings (CRLF for LF)"]);
    check("a\r\nb\n", "a\nb", &["line endings (LF for CRLF, no newline at the end)"]);
    check("a \nb\t \n", "a\nb\n", &["trailing white space (removed)"]);
    check("a\n\nb\n", "a  \n  \nb  \n", &["trailing white space (2 spaces on each line)"]);
    check(
        "a\nb\nc\nd\ne\n",
        "a \nb\nc \nd \ne\t\n",
        &["trailing white space (only 1 space on lines 1, 3-4; 1 tab on line 5)"],
    );
    check(
        "a\n  b\n",
        "a \r\n\tb \r\n",
        &[
            "indentation (tabs for 2 spaces)",
            "trailing white space (1 space on each line)",
            "line endings (CRLF for LF)",
        ],
    );
}

#[test]
fn other_changes_have_none() {
    for (covering, text) in [("a\n  b\n", "a\n  b\n"), ("a\nb\n", "c\nd\n"), ("a b\n", "a  b\n")] {
        assert!(SpaceChange::infer(covering.as_bytes(), text.as_bytes()).is_empty(), "{text}");
    }
}

#[test]
fn other_descriptions_are_not_parsed() {
    for part in [
        "",
        "indentation",
        "indentation ()",
        "indentation (tabs for 17 spaces)",
        "indentation (tabs for 0 spaces)",
        "indentation (tabs for 1 spaces)",
        "indentation (04 more spaces)",
        "trailing white space (only 1 space on lines )",
        "trailing white space (only 1 space on lines 2)",
        "trailing white space (only 1 space on line 1-2)",
        "trailing white space (only 1 space on lines 2, 1)",
        "trailing white space (only 1 space on lines 1-3, 2)",
        "trailing white space (only 1 space on lines 1-2; 1 tab on line 2)",
        "line endings (CRLF for LF, LF for CRLF)",
        "line endings (no newline at the end, CRLF for LF)",
    ] {
        assert_eq!(SpaceChange::parse(&[part]), None, "{part}");
    }
    let twice = "indentation (tabs for 4 spaces)";
    assert_eq!(SpaceChange::parse(&[twice, twice]), None);
}

#[test]
fn a_run_of_any_length_takes_no_memory() {
    let change =
        SpaceChange::parse(&["trailing white space (only 1 tab on lines 2-99999999999)"]).unwrap();
    assert_eq!(change.apply(b"a\nb\nc"), b"a\nb\t\nc\t");
}
