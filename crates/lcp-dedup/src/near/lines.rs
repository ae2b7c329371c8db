//! Lines as they are compared to find texts that may be near. What is decided then
//! is decided on the bytes.

use crate::lines::without_end;

/// The lines of `text`, each with its newline.
pub(super) fn whole(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// What of a line is compared: `exact`, all but its newline, else without the number
/// that `cat -n` puts before it and without trailing white space.
pub(super) fn compared(line: &[u8], exact: bool) -> &[u8] {
    let line = without_end(line);
    // The number first: behind it, an empty line is a tab that is white space, too.
    if exact { line } else { without_number(line).trim_ascii_end() }
}

/// The line behind spaces, digits and a tab.
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
    fn numbers_and_trailing_white_space_are_not_compared() {
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
            assert_eq!(compared(line.as_bytes(), false), expected.as_bytes(), "{line:?}");
        }
        assert_eq!(compared(b"  1\tx \r\n", true), b"  1\tx \r");
    }
}
