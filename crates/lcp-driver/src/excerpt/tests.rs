//! Tests of `excerpt.rs`.

use super::*;

#[test]
fn cuts_are_at_lines_else_sentences_else_characters() {
    assert_eq!(whole_start("one\ntwo\nthr"), "one\ntwo\n");
    // A line break that would lose more than half is no place to cut.
    assert_eq!(whole_start("a\nOne is here. Two is the"), "a\nOne is here. ");
    assert_eq!(whole_start("neither lines nor sent"), "neither lines nor sent");
    assert_eq!(whole_end("ee\nfour\nfive\n"), "four\nfive\n");
    assert_eq!(whole_end("o. Three is here."), "Three is here.");
    assert_eq!(whole_end("三。四五六七八九十"), "四五六七八九十");
}

#[test]
fn lines_are_counted_where_something_of_them_is_missing() {
    let lines = |head: usize, tail: usize| missing("a\nbc\nd", 9, head, tail, 0).omitted_lines;
    assert_eq!((lines(0, 0), lines(2, 0), lines(2, 1), lines(3, 1)), (3, 2, 1, 1));
    assert_eq!(missing("a\nb\n", 9, 2, 0, 0).omitted_lines, 1);
}
