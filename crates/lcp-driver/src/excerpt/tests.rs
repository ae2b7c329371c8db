//! Tests of `excerpt.rs`.

use super::*;

#[test]
fn cuts_prefer_lines_then_sentences_then_characters() {
    assert_eq!(start_at_boundary("one\ntwo\nthr"), "one\ntwo\n");
    // A line break is not used if more than half of the text would be lost.
    assert_eq!(start_at_boundary("a\nOne is here. Two is the"), "a\nOne is here. ");
    assert_eq!(start_at_boundary("neither lines nor sent"), "neither lines nor sent");
    assert_eq!(end_at_boundary("ee\nfour\nfive\n"), "four\nfive\n");
    assert_eq!(end_at_boundary("o. Three is here."), "Three is here.");
    assert_eq!(end_at_boundary("三。四五六七八九十"), "四五六七八九十");
}

#[test]
fn partly_omitted_lines_count_as_omitted() {
    let of = |text| ExcerptSource {
        text: Cow::Borrowed(text),
        markers: Vec::new(),
        tokens: 9,
        form: None,
        record_ends: Vec::new(),
        numbered: false,
    };
    let lines = |head, tail| of("a\nbc\nd").excerpt(head, tail, 0).omitted_lines;
    assert_eq!((lines(0, 0), lines(2, 0), lines(2, 1), lines(3, 1)), (3, 2, 1, 1));
    assert_eq!(of("a\nb\n").excerpt(2, 0, 0).omitted_lines, 1);
}
