//! Truncates a text to a number of tokens by binary search, for any estimator.

/// Returns the longest prefix of `text` for which `fits` is true, assuming that it is true for
/// every shorter prefix.
pub(crate) fn longest_prefix(text: &str, fits: impl Fn(&str) -> bool) -> &str {
    if text.is_empty() || fits(text) {
        return text;
    }
    // The prefix up to `low` fits, but the prefix up to `high` does not.
    let (mut low, mut high) = (0, text.len());
    loop {
        // The middle must be after `low`, even if the character there is long.
        let middle = floor_char_boundary(text, low + (high - low) / 2)
            .max(ceil_char_boundary(text, low + 1));
        if middle >= high {
            return &text[..low];
        }
        *(if fits(&text[..middle]) { &mut low } else { &mut high }) = middle;
    }
}

/// Returns the longest suffix of `text` for which `fits` is true, assuming that it is true for
/// every shorter suffix.
pub(crate) fn longest_suffix(text: &str, fits: impl Fn(&str) -> bool) -> &str {
    if text.is_empty() || fits(text) {
        return text;
    }
    // The suffix from `high` fits, but the suffix from `low` does not.
    let (mut low, mut high) = (0, text.len());
    loop {
        let middle = ceil_char_boundary(text, high - (high - low) / 2)
            .min(floor_char_boundary(text, high - 1));
        if middle <= low {
            return &text[high..];
        }
        *(if fits(&text[middle..]) { &mut high } else { &mut low }) = middle;
    }
}

/// Returns the last character boundary at or before `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the first character boundary at or after `at`. `at` must not exceed the length.
pub(crate) fn ceil_char_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}
