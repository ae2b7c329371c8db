use super::*;

#[test]
fn read_tools_are_recognised_by_the_last_part_of_their_name() {
    for name in ["Read", "read_file", "mcp__files__read_text_file", "functions.read", "fs_read"] {
        assert!(is_read_tool(name), "{name}");
    }
    for name in ["Bash", "write_stdin", "grep", "read_terminal", "mcp__read__search", ""] {
        assert!(!is_read_tool(name), "{name}");
    }
    assert!(READ_TOOLS.is_sorted());
}

#[test]
fn each_line_of_a_read_has_the_next_number() {
    let parse = |text: &str| {
        let lines = NumberedLines::parse(text.as_bytes())?;
        Some((lines.first, lines.last, lines.has_newline))
    };
    assert_eq!(parse("1\ta\n2\tb\n"), Some((1, 2, true)));
    assert_eq!(parse("     9→a\n    10→b"), Some((9, 10, false)));
    assert_eq!(parse("1\ta\n3\tc"), None);
    assert_eq!(parse("1\ta\n\n<note>"), None);
    assert_eq!(parse("Wasted call"), None);
    assert_eq!(parse("12: a"), None);
    assert_eq!(parse("99999999999999999999\ta"), None);
    assert_eq!(parse(""), None);
}

#[test]
fn contained_lines_keep_their_order_and_number() {
    assert!(contains_lines(b"a\nb\nc\n", b"a\nc"));
    assert!(!contains_lines(b"a\nb\nc\n", b"c\na"));
    assert!(!contains_lines(b"a\nb\nc\n", b"a\na"));
    assert!(!contains_lines(b"ab\n", b"a\n"));
}
