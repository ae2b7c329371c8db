//! Tests of abridged texts.

use super::draft::*;

#[test]
fn abridge_keeps_first_and_last_lines() {
    let forms = abridge("a\nb\nc\nd\ne\nf\ng\nh").expect("eight lines");
    assert_eq!(forms.detailed, "a\nb\n[…]\ng\nh");
    assert_eq!(forms.brief, "a\n[…]\nh");
}

#[test]
fn abridge_cuts_single_line_at_sentences_or_words() {
    assert_eq!(abridge("One. Two. Three. Four.").expect("sentences").detailed, "One.\n[…]\nFour.");
    assert_eq!(abridge("one two three four").expect("words").brief, "one\n[…]");
    assert_eq!(abridge("too short"), None);
}
