use super::*;

#[test]
fn comparison_key_omits_line_number_and_trailing_space() {
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

#[test]
fn intern_lines_returns_the_first_equal_line() {
    let lines: Vec<_> = (0..200_000_u32).map(|n| (n % 70_001).to_string()).collect();
    let lines: Vec<_> = lines.iter().map(String::as_bytes).collect();
    let expected: Vec<_> = (0..200_000_u32).map(|n| n % 70_001).collect();
    assert_eq!(intern_lines(&lines), expected);
    assert_eq!(intern_lines(&[]), [] as [u32; 0]);
    assert_eq!(intern_lines(&[b"", b"a", b""]), [0, 1, 0]);
}
