//! Tests of features and terms.

use super::score::*;
use super::terms::is_term;

#[test]
fn word_lists_are_sorted() {
    assert!(DECISION_WORDS.is_sorted() && OUTCOME_WORDS.is_sorted() && ERROR_WORDS.is_sorted());
}

#[test]
fn features_score_only_complete_words() {
    let points = |text| Features::new(text).points;
    assert_eq!(points("We decided."), DECISION);
    assert_eq!(points("It is undecided."), 0);
    assert_eq!(points("We WON’T."), DECISION);
    assert_eq!(points("Fixed 3 errors in src/a.rs"), OUTCOME + OUTCOME + TERM + FIGURE);
    assert_eq!(points("Let me look."), NARRATION);
}

#[test]
fn error_line_returns_error_or_last_line() {
    let output = "Compiling a\nerror[E0502]: cannot borrow\n  --> src/a.rs\n";
    assert_eq!(error_line(output), "error[E0502]: cannot borrow");
    assert_eq!(error_line("one\ntwo\n\n"), "two");
    let output = "=== ERRORS ===\nE  assert 1 failed\n=== 1 failed ===\n";
    assert_eq!(error_line(output), "E  assert 1 failed");
    assert_eq!(error_line("ran\n=== 1 failed ==="), "ran");
}

#[test]
fn is_term_accepts_paths_identifiers_and_codes() {
    for term in [
        "src/main.rs", "/etc/hosts", "Cargo.toml", "parse_header", "std::mem", "parseHeader",
        "HttpServer", "E0502", "https://example.org/a/b", "~/notes", "a.c", "utf8_error",
    ] {
        assert_eq!(is_term(term), Some(term));
        assert_eq!(is_term(&format!("(`{term}`),")), Some(term));
    }
    assert_eq!(is_term("src/a.rs:12:5:"), Some("src/a.rs"));
    for word in [
        "and/or", "e.g.", "i.e.", "Header", "HTTP", "3.14", "done.", "1/2", "...", "", "42", "x1",
        "don't", "well-known", "a=b_c",
    ] {
        assert_eq!(is_term(word), None, "{word}");
    }
}
