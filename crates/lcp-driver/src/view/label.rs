//! Labels in rendered text: paths, titles, names, ids. They come from packs
//! that anybody may have written, so each stands on one line, bounded in
//! length, and cannot be taken for anything else.

use std::borrow::Cow;

use crate::append::append;

/// Characters of the longest label that is shown whole. A longer one loses its
/// middle: of a path, both ends say more.
pub const LABEL_CHARS_MAX: usize = 200;

/// Shortens a label that is too long.
pub(crate) fn cap(label: &str) -> Cow<'_, str> {
    if label.len() <= LABEL_CHARS_MAX || label.chars().count() <= LABEL_CHARS_MAX {
        return Cow::Borrowed(label);
    }
    // The mark takes one character, and the head is the shorter part.
    let tail_chars = LABEL_CHARS_MAX / 2;
    let head_chars = LABEL_CHARS_MAX - tail_chars - 1;
    let head = label.char_indices().nth(head_chars).map_or(label.len(), |(at, _)| at);
    let tail = label.char_indices().nth_back(tail_chars - 1).map_or(0, |(at, _)| at);
    Cow::Owned(format!("{}…{}", &label[..head], &label[tail..]))
}

/// Whether a terminal obeys this instead of showing it: control characters, line and paragraph
/// separators, and what turns the direction of a text.
///
/// ```
/// assert!(lcp_driver::steers('\u{1b}') && lcp_driver::steers('\u{202e}'));
/// assert!(!lcp_driver::steers('\u{feff}'));
/// ```
#[must_use]
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61C}' | '\u{200E}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Characters that a terminal obeys, or that do not show. What joins letters and emoji or keeps
/// them apart is no such: it shows in its neighbours.
pub(crate) fn is_hidden(c: char) -> bool {
    steers(c)
        || matches!(c, '\u{AD}' | '\u{180E}' | '\u{200B}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// A text of a pack with what would not show, or would change how its
/// neighbours show, as `\u{…}`: a terminal or a log shows it and does nothing else.
///
/// ```
/// assert_eq!(lcp_driver::visible("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |out, c| out.extend(c.escape_unicode()))
}

/// The same of lines: their ends stay.
///
/// ```
/// assert_eq!(lcp_driver::visible_lines("a\r\n\u{202e}b\n"), "a\\u{d}\n\\u{202e}b\n");
/// ```
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let hides = |c| c != '\n' && is_hidden(c);
    escaped(text, hides, |out, c| out.extend(c.escape_unicode()))
}

/// JSON with what [`visible`] escapes as `\uXXXX`: a terminal shows it and does nothing else,
/// and a program reads what it read before. Lines and indents stay.
///
/// ```
/// assert_eq!(lcp_driver::visible_json("[\n\"\u{202e}\"]"), "[\n\"\\u202e\"]");
/// ```
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Outside of its strings JSON has none but these.
    let hides = |c| !matches!(c, '\n' | '\r' | '\t') && is_hidden(c);
    escaped(json, hides, |out, c| {
        for unit in c.encode_utf16(&mut [0; 2]) {
            append(out, format_args!("\\u{unit:04x}"));
        }
    })
}

/// A text with other words for some of its characters.
fn escaped(
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
            c if is_hidden(c) => append(out, format_args!("&#x{:X};", u32::from(c))),
            c => out.push(c),
        }
    }
}

/// Appends a label as one word: as it is where that is unambiguous, else in
/// quotes, with `\"`, `\\` and `\u{…}`.
pub(crate) fn push_word(out: &mut String, label: &str) {
    let label = cap(label);
    if is_bare(&label) {
        out.push_str(&label);
        return;
    }
    push_quoted(out, &label);
}

/// Appends a label in quotes, whatever it holds.
pub(crate) fn push_quoted(out: &mut String, label: &str) {
    out.push('"');
    for c in cap(label).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_hidden(c) => append(out, format_args!("\\u{{{:X}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Whether a word can stand without quotes between others: it holds none of
/// what the forms of Markdown and Minimal are made of.
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

/// Undoes [`push_xml`], but for the middle of a label that was too long.
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

/// Takes a word that [`push_word`] made off the front of `text`.
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
