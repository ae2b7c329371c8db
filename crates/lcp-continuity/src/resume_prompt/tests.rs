//! Tests of abridged texts.

use super::draft::*;

#[test]
fn the_beginning_and_the_end_remain() {
    let forms = abridge("a\nb\nc\nd\ne\nf\ng\nh").expect("eight lines");
    assert_eq!(forms.detailed, "a\nb\n[…]\ng\nh");
    assert_eq!(forms.brief, "a\n[…]\nh");
}

#[test]
fn text_of_one_line_is_cut_at_sentences_else_at_words() {
    assert_eq!(abridge("One. Two. Three. Four.").expect("sentences").detailed, "One.\n[…]\nFour.");
    assert_eq!(abridge("one two three four").expect("words").brief, "one\n[…]");
    assert_eq!(abridge("too short"), None);
}
