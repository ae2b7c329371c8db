//! Quotes text of others inside generated text. Quotations are verbatim, and cannot be mistaken for
//! generated text.

const FENCE: usize = 3;

/// Appends `mark`, a space and `text` as one line. Text of several lines is put in a fence below
/// the mark, so that no line of it can be mistaken for an item.
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

/// Appends `text` in quotation marks that it does not contain. If it has several lines or contains
/// both kinds of marks, it is put in a fence on separate lines.
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

/// Formats a name or a reason for use inside a sentence: if it contains a line break or control
/// character, it is escaped.
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

/// Returns whether `text` contains no line breaks and no control characters.
fn is_line(text: &str) -> bool {
    !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))
}
