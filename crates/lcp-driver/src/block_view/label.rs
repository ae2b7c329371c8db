//! Labels in rendered text: paths, titles, names and ids. They come from untrusted packs, so each
//! is on one line, limited in length, and unambiguous.

use std::borrow::Cow;

use crate::fmt::write_to;

/// The maximum number of characters of a label. A longer one is shortened in the middle, because
/// both ends of a path say more.
pub const LABEL_CHARS_MAX: usize = 200;

/// Shortens the middle of a label that is too long.
pub(crate) fn cap(label: &str) -> Cow<'_, str> {
    if label.len() <= LABEL_CHARS_MAX || label.chars().count() <= LABEL_CHARS_MAX {
        return Cow::Borrowed(label);
    }
    // The ellipsis takes one character, at the expense of the head.
    let tail_chars = LABEL_CHARS_MAX / 2;
    let head_chars = LABEL_CHARS_MAX - tail_chars - 1;
    let head = label.char_indices().nth(head_chars).map_or(label.len(), |(at, _)| at);
    let tail = label.char_indices().nth_back(tail_chars - 1).map_or(0, |(at, _)| at);
    Cow::Owned(format!("{}…{}", &label[..head], &label[tail..]))
}

/// Returns whether a terminal interprets this character instead of showing it: control characters,
/// line and paragraph separators, bidirectional controls.
///
/// ```
/// assert!(lcp_driver::is_terminal_control('\u{1b}') && lcp_driver::is_terminal_control('\u{202e}'));
/// assert!(!lcp_driver::is_terminal_control('\u{feff}'));
/// ```
#[must_use]
pub fn is_terminal_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a terminal interprets this character or does not show it. Joiners count as
/// shown.
pub(crate) fn is_hidden(c: char) -> bool {
    is_terminal_control(c)
        || matches!(c, '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Escapes the control characters and invisible characters of a text as `\u{…}`, so that it is
/// safe to print in a terminal or a log.
///
/// ```
/// assert_eq!(lcp_driver::escape_control("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
/// ```
#[must_use]
pub fn escape_control(text: &str) -> Cow<'_, str> {
    escape_where(text, is_hidden, |out, c| out.extend(c.escape_unicode()))
}

/// Escapes the same characters in a text of several lines, except for newlines.
///
/// ```
/// assert_eq!(lcp_driver::escape_control_lines("a\r\n\u{202e}b\n"), "a\\u{d}\n\\u{202e}b\n");
/// ```
#[must_use]
pub fn escape_control_lines(text: &str) -> Cow<'_, str> {
    let hides = |c| c != '\n' && is_hidden(c);
    escape_where(text, hides, |out, c| out.extend(c.escape_unicode()))
}

/// Escapes the same characters in JSON as `\uXXXX`, so that it is safe to print and has the same
/// meaning for programs. Line ends and tabs remain.
///
/// ```
/// assert_eq!(lcp_driver::escape_control_json("[\n\"\u{202e}\"]"), "[\n\"\\u202e\"]");
/// ```
#[must_use]
pub fn escape_control_json(json: &str) -> Cow<'_, str> {
    // Valid JSON has no other such characters outside of strings.
    let hides = |c| !matches!(c, '\n' | '\r' | '\t') && is_hidden(c);
    escape_where(json, hides, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            write_to(out, format_args!("\\u{unit:04x}"));
        }
    })
}

/// Escapes the characters of a text for which `hides` returns `true`.
fn escape_where(
    text: &str,
    hides: impl Fn(char) -> bool,
    escape: impl Fn(&mut String, char),
) -> Cow<'_, str> {
    let Some(first) = text.find(&hides) else { return Cow::Borrowed(text) };
    let (before, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len() + 8);
    out.push_str(before);
    for c in rest.chars() {
        if hides(c) { escape(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Appends a label as the value of an XML attribute.
pub(crate) fn push_xml(out: &mut String, label: &str) {
    for c in cap(label).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if is_hidden(c) => write_to(out, format_args!("&#x{:X};", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Appends a label as one word, in quotes if it would be ambiguous.
pub(crate) fn push_word(out: &mut String, label: &str) {
    let label = cap(label);
    if is_bare(&label) {
        out.push_str(&label);
        return;
    }
    push_quoted(out, &label);
}

/// Appends a label in quotes.
pub(crate) fn push_quoted(out: &mut String, label: &str) {
    out.push('"');
    for c in cap(label).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_hidden(c) => write_to(out, format_args!("\\u{{{:X}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Returns whether a word needs no quotes, because it has no delimiters of Markdown and Minimal.
fn is_bare(label: &str) -> bool {
    let plain =
        |c: char| !c.is_whitespace() && !is_hidden(c) && !matches!(c, '"' | '[' | ']' | ',');
    let line_range = label
        .rsplit_once(':')
        .is_some_and(|(_, lines)| lines.bytes().all(|b| b.is_ascii_digit() || b == b'-'));
    !label.is_empty()
        && label.chars().all(plain)
        && !label.starts_with(['#', '(', '~', '<', ':'])
        && !line_range
}

/// Reverses [`push_xml`], except for a label that was shortened.
pub(crate) fn from_xml(value: &str) -> Option<String> {
    let mut label = String::new();
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        label.push_str(&rest[..at]);
        let (entity, behind) = rest[at + 1..].split_once(';')?;
        label.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            code => char::from_u32(u32::from_str_radix(code.strip_prefix("#x")?, 16).ok()?)?,
        });
        rest = behind;
    }
    label.push_str(rest);
    Some(label)
}

/// Takes a word that [`push_word`] wrote from the beginning of `text`.
pub(crate) fn take_word(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', ']', ',', '\n']).unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut label = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((label, &quoted[at + 1..])),
            '\\' => match chars.next()?.1 {
                'u' => {
                    let (code, _) = quoted[at + 2..].strip_prefix('{')?.split_once('}')?;
                    label.push(char::from_u32(u32::from_str_radix(code, 16).ok()?)?);
                    chars.nth(code.len() + 1)?;
                }
                escaped => label.push(escaped),
            },
            c => label.push(c),
        }
    }
    None
}
