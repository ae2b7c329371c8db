//! Lines: splitting, and the part that is compared to find candidates. Decisions compare all bytes.

/// Returns a line or text without its final newline.
pub(super) fn without_newline(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// Splits `text` into lines, each with its newline.
pub(super) fn split_lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// Returns the part of a line that is compared: with `exact`, all but its newline, else without the
/// line number of `cat -n` and without trailing white space.
pub(super) fn comparison_key(line: &[u8], exact: bool) -> &[u8] {
    let line = without_newline(line);
    // The number first: an empty line after it is a tab, which is white space too.
    if exact { line } else { without_number(line).trim_ascii_end() }
}

/// Returns the line after spaces, digits and a tab.
fn without_number(line: &[u8]) -> &[u8] {
    let behind = |line: &[u8], is: fn(&u8) -> bool| {
        line.iter().position(|byte| !is(byte)).unwrap_or(line.len())
    };
    let spaces = behind(line, |byte| *byte == b' ');
    let digits = behind(&line[spaces..], u8::is_ascii_digit);
    match line[spaces + digits..].split_first() {
        Some((b'\t', rest)) if digits > 0 => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_trailing_white_space_are_not_comparison_key() {
        for (line, expected) in [
            ("     1\tfn main() {\n", "fn main() {"),
            ("123456\t  x \t\r\n", "  x"),
            ("     7\t\n", ""),
            ("  indented", "  indented"),
            ("\tx", "\tx"),
            ("  \tx", "  \tx"),
            ("12 x", "12 x"),
            ("12", "12"),
            (" \n", ""),
        ] {
            assert_eq!(comparison_key(line.as_bytes(), false), expected.as_bytes(), "{line:?}");
        }
        assert_eq!(comparison_key(b"  1\tx \r\n", true), b"  1\tx \r");
    }
}
