//! Finds positions at which a text can be cut so that the counts of its parts add up (RFC 0002 §2).

/// Returns whether the counts of two texts add up if the first ends in `before` and the second
/// begins with `after`, for [additive](crate::TokenEstimator::is_additive) estimators. This is so
/// if `before` is a newline and `after` is neither white space nor `/`.
///
/// The pre-tokenizers of cl100k and the o200k family end a piece at the last newline of a run of
/// white space. Only more white space can extend the piece over it, and also `/`, because o200k
/// includes newlines and slashes after punctuation in one piece.
#[must_use]
pub fn is_additive_boundary(before: char, after: char) -> bool {
    before == '\n' && !after.is_whitespace() && after != '/'
}

/// Splits `text` at its first additive boundary.
///
/// The first part is as short as possible, and the counts of both parts add up to the count of the
/// whole text. Text that is inserted before the first part does not change the count of the second
/// part. The second part is empty if there is no boundary.
///
/// ```
/// use lcp_tokens::split_at_boundary;
///
/// let (head, rest) = split_at_boundary("// licence\n\n  // more\nfn main() {}\n");
/// assert_eq!((head, rest), ("// licence\n\n  // more\n", "fn main() {}\n"));
/// ```
#[must_use]
pub fn split_at_boundary(text: &str) -> (&str, &str) {
    let mut from = 0;
    while let Some(newline) = memchr::memchr(b'\n', &text.as_bytes()[from..]) {
        from += newline + 1;
        match text[from..].chars().next() {
            Some(after) if is_additive_boundary('\n', after) => return text.split_at(from),
            Some(_) => {}
            None => break,
        }
    }
    (text, "")
}
