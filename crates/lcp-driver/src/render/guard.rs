//! What content must not be taken for: the lines that begin a part.

use lcp_types::BlockType;

use crate::view::label::is_hidden;

/// The shortest fence of Markdown.
pub(crate) const FENCE: &str = "```";

/// The words that a head in brackets or behind a heading mark begins with.
pub(crate) fn is_head_word(word: &str) -> bool {
    matches!(word, "system" | "user" | "assistant" | "tool" | "raw")
        || BlockType::from_label(word).is_some()
        || word.strip_prefix("role-").is_some_and(|code| code.parse::<u8>().is_ok())
}

/// Whether any line of `content` could be taken for the first line of a part: `opening` and a
/// head word, or `omitted`. What we read is exact ([`begins_part`]); other readers trim lines,
/// ignore case, and show a heading without its marks, and these are kept from it too.
pub(crate) fn could_be_head(content: &str, opening: &str, omitted: &str) -> bool {
    let [opening, omitted] = [opening, omitted].map(str::trim_end);
    // What both begin with, where that is the same.
    (content.contains(opening) || content.contains(&omitted[..2]))
        && lines(content).any(|line| {
            let line = line.trim_start_matches(is_blank);
            let begins = line.get(..omitted.len());
            line.strip_prefix(opening).is_some_and(shows_head_word)
                || begins.is_some_and(|begins| begins.eq_ignore_ascii_case(omitted))
        })
}

/// What a reader may take for nothing between two words.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_hidden(c) || matches!(c, '\u{200C}' | '\u{200D}')
}

/// Characters of a head word at most.
const WORD_CHARS_MAX: usize = 32;

/// Whether what this shows may begin with a head word: whatever its case, and with marks of
/// Markdown around or in it. What stands for something else, an entity or a tag, is in doubt.
fn shows_head_word(text: &str) -> bool {
    let mut word = String::new();
    for (at, c) in text.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' if word.len() < WORD_CHARS_MAX => {
                word.push(c.to_ascii_lowercase());
            }
            '*' | '_' | '`' | '~' | '\\' | '!' | '[' => {}
            '&' | '<' if stands_for_another(&text[at..]) => return true,
            // Between letters, only what does not show.
            _ if is_blank(c) && (word.is_empty() || !c.is_whitespace()) => {}
            _ => break,
        }
    }
    is_head_word(&word)
}

/// Whether an entity, a tag or a comment begins here.
fn stands_for_another(text: &str) -> bool {
    let rest = &text[1..];
    if text.starts_with('<') {
        return rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    }
    let name = rest.trim_start_matches('#');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    end > 0 && name[end..].starts_with(';')
}

/// Whether `line` begins with `opening` and a head word.
pub(crate) fn begins_part(line: &str, opening: &str) -> bool {
    line.strip_prefix(opening).is_some_and(begins_with_head_word)
}

fn begins_with_head_word(text: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ']' | ':');
    let end = text.find(ends).unwrap_or(text.len());
    is_head_word(&text[..end])
}

/// Lines as any reader may have them. The modes know newlines only; but a program that reads
/// a text may take others for them, or translate them.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_ENDS)
}

/// What Unicode, Markdown or a language's library ends lines with.
const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{B}', '\u{C}', '\u{1C}', '\u{1D}', '\u{1E}', '\u{85}', '\u{2028}', '\u{2029}'];

/// The smallest number from 2 on that is not among `taken`.
pub(crate) fn free_number(taken: impl Iterator<Item = u64>) -> u64 {
    let taken: std::collections::BTreeSet<u64> = taken.collect();
    let mut free = 2;
    while taken.contains(&free) {
        free += 1;
    }
    free
}

/// The longest run of `c` in `text`.
pub(crate) fn longest_run(text: &str, c: u8) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == c { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
