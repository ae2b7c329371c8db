use super::*;

#[test]
fn count_adds_no_line_after_the_final_newline() {
    for (text, lines) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\n", 2), ("a\r\nb", 2)] {
        assert_eq!(count(text.as_bytes()), lines, "{text:?}");
    }
    assert_eq!(count(&[b'\n'; 1000]), 1000);
}

#[test]
fn line_index_locates_every_line() {
    for lines in [1_u32, 2, 40, 700, 3000] {
        let text: String = (1..=lines).map(|n| "x".repeat(n as usize % 7) + "\n").collect();
        let chunk = Chunk { first: 11, last: 10 + lines, ..Chunk::from_text(text.as_bytes()) };
        let (chunks, mut at) = ([chunk], 0);
        let index = Lines::new(&chunks);
        for (line, content) in (11..).zip(text.split_inclusive('\n')) {
            assert_eq!(index.start(0, line), at);
            assert_eq!(index.slice(0, (line, line)), content.as_bytes());
            at += content.len();
        }
        assert_eq!(index.start(0, 11 + lines), text.len());
    }
}

#[test]
fn comparison_ignores_only_the_final_newline() {
    assert_eq!(behind(b"a\nb", b"a"), Some(&b"b"[..]));
    assert_eq!(behind(b"a\nb", b"a\n"), Some(&b"b"[..]));
    assert_eq!(behind(b"a\n", b"a"), Some(&b""[..]));
    assert_eq!(behind(b"ab", b"a"), None);
    assert!(agree(b"a", b"a\n") && agree(b"a\n", b"a") && agree(b"a\nb", b"a"));
    assert!(!agree(b"a\r\n", b"a\n") && !agree(b"a ", b"a") && !agree(b"a\n\n", b"a\nb"));
}

#[test]
fn overlap_is_relative_to_the_shorter_range() {
    let percent = |a, b| (overlap(a, b) * 1000.0).round() / 10.0;
    // The example of the requirement: 26 common lines of 50.
    assert_eq!(percent((1, 50), (25, 75)).to_string(), "52");
    assert_eq!(percent((25, 75), (1, 50)).to_string(), "52");
    assert_eq!(percent((1, 100), (20, 39)).to_string(), "100");
    assert_eq!(percent((1, 5), (2, 6)).to_string(), "80");
    assert_eq!(percent((1, 3), (3, 5)).to_string(), "33.3");
    assert_eq!(percent((1, 3), (4, 5)).to_string(), "0");
    assert_eq!(percent((1, 3), (900, u32::MAX)).to_string(), "0");
    assert_eq!(percent((5, 1), (1, 5)).to_string(), "0");
    assert_eq!(percent((1, u32::MAX), (0, u32::MAX)).to_string(), "100");
}

#[test]
fn four_common_lines_in_five_reach_80_percent() {
    assert!(overlap((1, 5), (2, 6)) >= 0.8);
}

#[test]
fn missing_range_end_is_inferred_from_the_lines() {
    let text = b"a\nb\nc";
    assert_eq!(range_of(None, None, text), Ok((1, 3)));
    assert_eq!(range_of(Some(7), None, text), Ok((7, 9)));
    assert_eq!(range_of(None, Some(9), text), Ok((7, 9)));
    assert_eq!(range_of(Some(7), Some(9), text), Ok((7, 9)));
    let end = u32::MAX;
    assert_eq!(range_of(None, Some(end), text), Ok((end - 2, end)));
    assert_eq!(range_of(Some(end - 2), None, text), Ok((end - 2, end)));
}

#[test]
fn invalid_line_range_error_names_the_problem() {
    let message = |start, end, text: &[u8]| match range_of(start, end, text) {
        Ok(range) => format!("{range:?}"),
        Err(bad) => bad.to_string(),
    };
    let text = b"a\nb\nc\n";
    expect_test::expect![[r"
        the text is empty
        line numbers start at 1, got 0
        line numbers start at 1, got 0
        the line range 5 to 3 ends before it begins
        the line range 1 to 4 does not match the number of lines in the text, 3
        the line range 1 to 4294967295 does not match the number of lines in the text, 3
        the line range is out of bounds: one end is line 2, number of lines is 3
        the line range is out of bounds: one end is line 4294967295, number of lines is 3
    "]]
    .assert_eq(&format!(
        "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n",
        message(None, None, b""),
        message(Some(0), Some(2), text),
        message(None, Some(0), text),
        message(Some(5), Some(3), text),
        message(Some(1), Some(4), text),
        message(Some(1), Some(u32::MAX), text),
        message(None, Some(2), text),
        message(Some(u32::MAX), None, text),
    ));
}
