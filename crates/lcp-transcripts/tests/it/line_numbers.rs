//! Lines with numbers.

use lcp_transcripts::line_numbers::{Style, parse_exact, write};
use proptest::prelude::*;

#[test]
fn numbered_lines_from_read_tools_are_parsed() {
    let style =
        |text: &str| parse_exact(text).map(|lines| (lines.first, lines.last, lines.style.name()));
    let tab = |width| format!("cat-n,{width},tab");
    let arrow = |width| format!("cat-n,{width},arrow");
    assert_eq!(style("     1\ta\n     2\tb"), Some((1, 2, "cat-n".to_owned())));
    assert_eq!(style("    99→a\n   100→b\n"), Some((99, 100, arrow(6))));
    assert_eq!(style("9→a\n10→\n11→\r\n"), Some((9, 11, arrow(0))));
    assert_eq!(style("9\ta\n10\tb"), Some((9, 10, tab(0))));
    assert_eq!(style(" 999999\ta\n1000000\tb\n"), Some((999_999, 1_000_000, tab(7))));
}

#[test]
fn other_text_is_not_parsed_as_numbered_lines() {
    for text in [
        "",
        "a",
        "1",
        "1\tone\n",
        "1\ta\n3\tb\n",
        "1\ta\n\n2\tb\n",
        "0→a\n1→b\n",
        "01→a\n",
        "1→a\n  2→b\n",
        "     1\ta\n     2→b\n",
        "1→a\n2→",
        "4294967295→a\n4294967296→b\n",
        "             1\ta\n",
        "99999999999→a\n",
        "1→a\n\n<system-reminder>x</system-reminder>",
    ] {
        assert_eq!(parse_exact(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn written_line_numbers_round_trip(
        content in "([a-z\t→ \r]{0,5}\n){2,6}[a-z]{0,3}",
        first in 1u32..2_000_000,
        width in prop::sample::select(vec![0usize, 4, 5, 6, 12]),
        separator in prop::sample::select(vec!['\t', '→']),
    ) {
        let style = Style { width, separator };
        let text = write(&content, first, style);
        let lines = parse_exact(&text).unwrap();
        prop_assert_eq!((&lines.content, lines.first), (&content, first));
        prop_assert_eq!(write(&lines.content, lines.first, lines.style), text);
        prop_assert_eq!(Style::from_name(&lines.style.name()), Some(lines.style));
    }

    #[test]
    fn parsed_numbered_lines_reproduce_their_text(text in "( {0,5}[0-9]{1,3}[\t→][ab0-9]{0,2}\n?){0,4}") {
        if let Some(lines) = parse_exact(&text) {
            prop_assert_eq!(write(&lines.content, lines.first, lines.style), text);
        }
    }
}
