//! Quotes the words of others inside our own: verbatim, and never taken for ours.

const FENCE: usize = 3;

/// Appends `mark`, a space and `text` as a line of its own. Text of several lines stands in a fence
/// below the mark, so that none of its lines can be taken for an item.
pub(super) fn push_item(out: &mut String, mark: &str, text: &str) {
    out.push_str(mark);
    if is_line(text) {
        if !mark.is_empty() && !text.is_empty() {
            out.push(' ');
        }
        out.push_str(text);
    } else {
        if !mark.is_empty() {
            out.push('\n');
        }
        push_fenced(out, text);
    }
    out.push('\n');
}

/// Appends `text` in quotation marks that it does not contain; in a fence on lines of
/// its own where it has several lines, or both kinds of marks.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    let marks = [('"', '"'), ('“', '”')];
    let free = marks.into_iter().find(|(open, close)| !text.contains([*open, *close]));
    if let Some((open, close)) = free.filter(|_| is_line(text)) {
        out.push(open);
        out.push_str(text);
        out.push(close);
        return;
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.truncate(out.trim_end_matches([' ', ',']).len());
        out.push('\n');
    }
    push_fenced(out, text);
    out.push('\n');
}

/// Appends `text` in a fence that is longer than any run of backticks in it.
fn push_fenced(out: &mut String, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(FENCE.max(longest + 1));
    for part in [fence.as_str(), "\n", text, "\n", fence.as_str()] {
        out.push_str(part);
    }
}

/// A name or a reason inside a sentence of ours: what would end its line is escaped.
pub(super) fn inline(text: &str) -> String {
    if is_line(text) { text.to_owned() } else { text.escape_debug().to_string() }
}

/// Returns the beginning of `text`, at most `chars` characters, on one line.
pub(crate) fn truncate_inline(text: &str, chars: usize) -> String {
    let mut begun: String = text.chars().take(chars).collect();
    if begun.len() < text.len() {
        begun.push('…');
    }
    inline(&begun)
}

/// Whether nothing in `text` ends a line.
fn is_line(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}
