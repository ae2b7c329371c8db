//! Lines of a text: what ends with U+000A, and what stands behind the last one.

/// The text without the newline of its last line.
pub(crate) fn without_end(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}
