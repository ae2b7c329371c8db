//! Where texts may be cut so that their counts add up (RFC 0002 §2).

/// Whether counts add up where a text that ends in `before` is followed by
/// `after`, for estimators that are
/// [additive](crate::TokenEstimator::is_additive): `before` is a newline and
/// `after` is neither white space nor `/`.
///
/// Why: the pre-tokenizers of cl100k and the o200k family end a piece at the
/// last newline of a run of white space, so nothing that comes after reaches
/// back over it, except more white space, and `/`, which o200k lets a run of
/// punctuation swallow together with newlines.
#[must_use]
pub fn is_additive_boundary(before: char, after: char) -> bool {
    before == '\n' && !after.is_whitespace() && after != '/'
}

/// Cuts `text` at its first join: the first part is as short as it can be,
/// the counts of both add up to that of the whole, and anything may be put in
/// front of the first part without changing the count of the second.
///
/// The second part is empty where there is no join.
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
    while let Some(newline) = text[from..].find('\n') {
        from += newline + 1;
        match text[from..].chars().next() {
            Some(after) if is_additive_boundary('\n', after) => return text.split_at(from),
            Some(_) => {}
            None => break,
        }
    }
    (text, "")
}
