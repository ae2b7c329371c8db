//! A line diff of two contents.

use std::borrow::Cow;

use lcp_driver::{content_text, escape_control};
use lcp_types::BlockContent;
use similar::{Algorithm, DiffTag, capture_diff_slices, group_diff_ops};

/// The number of context lines around a change.
const AROUND: usize = 3;

/// The maximum number of lines to show of one block.
const LINES_MAX: usize = 400;

/// The maximum number of characters to show of a line.
const CHARS_MAX: usize = 400;

/// Returns a unified diff of the texts of two contents, or an empty text if these are equal. The
/// number of lines and their lengths are limited.
pub(super) fn diff(a: &BlockContent<'_>, b: &BlockContent<'_>, colored: bool) -> String {
    let text = |content| content_text(content).unwrap_or_default();
    let (a, b): (Cow<'_, str>, Cow<'_, str>) = (text(a), text(b));
    let (a, b): (Vec<_>, Vec<_>) =
        (a.split_inclusive('\n').collect(), b.split_inclusive('\n').collect());
    let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
    let (mut lines, mut left) = (String::new(), 0_usize);
    let mut shown = 0;
    for group in group_diff_ops(ops, AROUND) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let (old, new) = (
            first.old_range().start..last.old_range().end,
            first.new_range().start..last.new_range().end,
        );
        if shown < LINES_MAX {
            let head =
                format!("@@ -{},{} +{},{} @@", old.start + 1, old.len(), new.start + 1, new.len());
            push(&mut lines, ' ', &head, "36", colored);
        }
        for op in &group {
            let (old, new) = (&a[op.old_range()], &b[op.new_range()]);
            let of = |sign, texts: &[&'_ str], color| {
                texts.iter().map(move |text| (sign, (*text).to_owned(), color)).collect::<Vec<_>>()
            };
            let rows = match op.tag() {
                DiffTag::Equal => of(' ', old, ""),
                _ => [of('-', old, "31"), of('+', new, "32")].concat(),
            };
            for (sign, text, color) in rows {
                if shown < LINES_MAX {
                    push(&mut lines, sign, &text, color, colored);
                    shown += 1;
                } else {
                    left += 1;
                }
            }
        }
    }
    if left > 0 {
        lines.extend([format!("    … {}\n", lcp_driver::plural(left, "more line"))]);
    }
    lines
}

/// Appends a line, indented and shortened to the maximum length. Invisible characters are escaped.
fn push(lines: &mut String, sign: char, text: &str, color: &str, colored: bool) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let end = text.char_indices().nth(CHARS_MAX).map(|(end, _)| end);
    let cells: Vec<_> = text[..end.unwrap_or(text.len())].split('\t').map(escape_control).collect();
    let text = cells.join("\t");
    let more = if end.is_some() { "…" } else { "" };
    let line = format!("{sign}{text}{more}");
    let line =
        if colored && !color.is_empty() { format!("\x1b[{color}m{line}\x1b[0m") } else { line };
    lines.extend(["    ", line.trim_end(), "\n"]);
}

#[cfg(test)]
mod tests {
    use lcp_types::{Block, Lang};

    use super::*;

    fn lines(a: &str, b: &str) -> String {
        let [a, b] = [a, b].map(|text| Block::code(Lang::Rust, "a", text.to_owned()).content);
        diff(&a, &b, false)
    }

    #[test]
    fn diff_shows_changes_with_context_lines() {
        assert_eq!(
            lines("a\nb\nc\n", "a\nB\x1b\nc\n"),
            "     @@ -1,3 +1,3 @@\n     a\n    -b\n    +B\\u{1b}\n     c\n"
        );
        assert_eq!(lines("a\n", "a\n"), "");
    }

    #[test]
    fn long_diffs_and_lines_are_truncated() {
        let many = "x\n".repeat(1_000);
        let said = lines("", &many);
        assert!(said.ends_with("    … 600 more lines\n") && said.lines().count() == 402, "{said}");
        assert!(lines("", &"y".repeat(5_000)).len() < 500);
    }
}
