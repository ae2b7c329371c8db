//! Cutting a text to a number of tokens, for any estimator.

use crate::TokenEstimator;

/// The longest start of `text` that is found to count `most` tokens at most, by
/// a search that takes counts to grow with the text.
pub(crate) fn start<'t>(by: &(impl TokenEstimator + ?Sized), text: &'t str, most: u32) -> &'t str {
    if text.is_empty() || by.count_up_to(text, most).is_some() {
        return text;
    }
    // The first fits, the second does not.
    let (mut low, mut high) = (0, text.len());
    loop {
        // Behind `low`, where it may have to be.
        let middle = floor(text, low + (high - low) / 2).max(ceil(text, low + 1));
        if middle >= high {
            return &text[..low];
        }
        let fits = by.count_up_to(&text[..middle], most).is_some();
        *(if fits { &mut low } else { &mut high }) = middle;
    }
}

/// The same, of the end of `text`.
pub(crate) fn end<'t>(by: &(impl TokenEstimator + ?Sized), text: &'t str, most: u32) -> &'t str {
    if text.is_empty() || by.count_up_to(text, most).is_some() {
        return text;
    }
    // The second fits, the first does not.
    let (mut low, mut high) = (0, text.len());
    loop {
        let middle = ceil(text, high - (high - low) / 2).min(floor(text, high - 1));
        if middle <= low {
            return &text[high..];
        }
        let fits = by.count_up_to(&text[middle..], most).is_some();
        *(if fits { &mut high } else { &mut low }) = middle;
    }
}

/// The last boundary of a character that is not behind `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first boundary of a character that is not before `at`, which is in the
/// text or its end.
pub(crate) fn ceil(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
