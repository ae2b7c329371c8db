//! Detection of delimiter collisions: content that a reader may take for the first line of a part
//! or for the end of one.

use lcp_types::BlockType;

use crate::block_view::label::is_hidden;

/// The shortest fence in Markdown.
pub(crate) const FENCE: &str = "```";

/// The words that can begin a head, in addition to block types and numbered roles.
const HEAD_WORDS: [&str; 5] = ["system", "user", "assistant", "tool", "raw"];

/// The prefix of a role without a name.
const ROLE: &str = "role-";

/// The word that begins a placeholder, in lower case.
pub(crate) const OMITTED_WORD: &str = "omitted";

/// The beginnings of lines that delimit parts, in modes other than XML.
#[derive(Clone, Copy)]
pub(crate) struct Delimiters {
    /// The text before the first word of a head.
    pub(crate) opening: &'static str,
    /// The beginning of a placeholder or of the roll-up line.
    pub(crate) omitted: &'static str,
    /// The characters with which a line that looks like one of these can begin, after blanks.
    marks: [u8; 3],
}

pub(crate) const MARKDOWN: Delimiters =
    Delimiters { opening: "### ", omitted: "_[Omitted: ", marks: *b"#_*" };

pub(crate) const MINIMAL: Delimiters =
    Delimiters { opening: "[", omitted: "[omitted: ", marks: *b"[[[" };

impl Delimiters {
    /// Returns whether the parser of this crate takes `line` for the first line of a part.
    pub(crate) fn begin(&self, line: &str) -> bool {
        line.strip_prefix(self.opening).is_some_and(begins_with_head_word)
            || line.starts_with(self.omitted)
    }

    /// Returns whether any reader may take a line of `content` for the first line of a part.
    pub(crate) fn may_begin_in(
        &self,
        content: &str,
        looks_like_head: impl Fn(&str) -> bool,
    ) -> bool {
        let [first, second, third] = self.marks;
        memchr::memchr3_iter(first, second, third, content.as_bytes()).any(|mark| {
            // Most marks are within a line.
            let before = content[..mark].trim_end_matches(|c| is_blank(c) && !is_line_end(c));
            (before.is_empty() || before.ends_with(is_line_end))
                && lines(&content[before.len()..]).next().is_some_and(|line| {
                    self.begin(line) || looks_like_head(&line[mark - before.len()..])
                })
        })
    }
}

/// Returns whether a head in brackets or after a heading mark begins with this word.
pub(crate) fn is_head_word(word: &str) -> bool {
    let is_code =
        |code: &str| code.bytes().all(|byte| byte.is_ascii_digit()) && code.parse::<u8>().is_ok();
    HEAD_WORDS.contains(&word)
        || BlockType::from_label(word).is_some()
        || word.strip_prefix(ROLE).is_some_and(is_code)
}

/// Returns whether a head or a placeholder begins with this word.
pub(crate) fn is_reserved_word(word: &str) -> bool {
    word == OMITTED_WORD || is_head_word(word)
}

/// Returns whether `beginning` may be the beginning of a head word.
pub(crate) fn may_be_head_word(beginning: &str) -> bool {
    let types = BlockType::ALL.iter().map(|block_type| block_type.label());
    let mut all = types.chain(HEAD_WORDS).chain([ROLE]);
    all.any(|word| word.starts_with(beginning)) || beginning.starts_with(ROLE)
}

fn begins_with_head_word(text: &str) -> bool {
    let ends = |c: char| c.is_whitespace() || matches!(c, ']' | ':');
    let end = text.find(ends).unwrap_or(text.len());
    is_head_word(&text[..end])
}

/// Returns whether a reader may ignore this character between or within words.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_invisible(c)
}

/// Returns whether a character is invisible but not white space.
pub(crate) fn is_invisible(c: char) -> bool {
    let is_filler = || {
        matches!(c, '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}' | '\u{200C}' | '\u{200D}'
            | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{E0100}'..='\u{E01EF}')
    };
    !c.is_whitespace() && (is_hidden(c) || is_filler())
}

pub(crate) const WORD_CHARS_MAX: usize = 32;

/// Returns the first word in lower case, without invisible characters, and the text after it.
pub(crate) fn first_word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut rest = text.trim_start_matches(is_blank);
    while let Some(c) = rest.chars().next() {
        if is_word_char(c) && word.len() < WORD_CHARS_MAX {
            word.push(c.to_ascii_lowercase());
        } else if !is_invisible(c) {
            break;
        }
        rest = &rest[c.len_utf8()..];
    }
    (word, rest)
}

/// Returns whether reserved words can have this character, in upper or lower case.
pub(crate) fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

/// Splits a text at every character that some reader takes for the end of a line. The modes use
/// only newlines, but a program that reads a text may recognize or convert other line ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split(LINE_ENDS)
}

fn is_line_end(c: char) -> bool {
    LINE_ENDS.contains(&c)
}

/// The line ends of Unicode, Markdown and standard libraries.
const LINE_ENDS: [char; 10] =
    ['\n', '\r', '\u{B}', '\u{C}', '\u{1C}', '\u{1D}', '\u{1E}', '\u{85}', '\u{2028}', '\u{2029}'];

/// Returns the smallest number from 2 on that is not in `taken`.
pub(crate) fn first_free_suffix(taken: impl Iterator<Item = u64>) -> u64 {
    let taken: std::collections::BTreeSet<u64> = taken.collect();
    let mut free = 2;
    while taken.contains(&free) {
        free += 1;
    }
    free
}

pub(crate) fn longest_run(text: &str, c: u8) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == c { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_line_that_looks_like_a_head_is_found(content in r"([\[#*_ a:\]\n\r\t\u{200B}\u{2028}\u{85}]|user|omitted){0,12}") {
            for delimiters in [MARKDOWN, MINIMAL] {
                let is_mark = |first: &u8| delimiters.marks.contains(first);
                let looks_like = |line: &str| {
                    line.as_bytes().first().is_some_and(is_mark) && line.contains("user")
                };
                let expected = lines(&content).any(|line| {
                    delimiters.begin(line) || looks_like(line.trim_start_matches(is_blank))
                });
                prop_assert_eq!(delimiters.may_begin_in(&content, looks_like), expected);
            }
        }
    }
}
