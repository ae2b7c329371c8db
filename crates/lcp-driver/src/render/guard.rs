//! What content must not be taken for: the lines that begin a part.

use lcp_types::BlockType;

use crate::view::label::is_hidden;

/// The shortest fence of Markdown.
pub(crate) const FENCE: &str = "```";

/// The words that a head in brackets or behind a heading mark begins with, but for types and
/// the numbers of roles.
const HEAD_WORDS: [&str; 5] = ["system", "user", "assistant", "tool", "raw"];

/// What a role without a name begins with.
const ROLE: &str = "role-";

/// The word that placeholders begin with, in any case.
pub(crate) const OMITTED_WORD: &str = "omitted";

/// The words that a head in brackets or behind a heading mark begins with.
pub(crate) fn is_head_word(word: &str) -> bool {
    let is_code =
        |code: &str| code.bytes().all(|byte| byte.is_ascii_digit()) && code.parse::<u8>().is_ok();
    HEAD_WORDS.contains(&word)
        || BlockType::from_label(word).is_some()
        || word.strip_prefix(ROLE).is_some_and(is_code)
}

/// Whether a head or a placeholder begins with this word.
pub(crate) fn is_ours(word: &str) -> bool {
    word == OMITTED_WORD || is_head_word(word)
}

/// Whether a head word begins so.
pub(crate) fn may_be_head_word(beginning: &str) -> bool {
    let types = BlockType::ALL.iter().map(|block_type| block_type.label());
    let mut all = types.chain(HEAD_WORDS).chain([ROLE]);
    all.any(|word| word.starts_with(beginning)) || beginning.starts_with(ROLE)
}

/// Whether any line of `content` could be taken for the first line of a part. What we read is
/// exact: `opening` and a head word, or `omitted`. Other readers are not: `looks` says of a line
/// without the blanks before it what they may see there.
pub(crate) fn could_be_head(
    content: &str,
    opening: &str,
    omitted: &str,
    looks: impl Fn(&str) -> bool,
) -> bool {
    lines(content).any(|line| {
        begins_part(line, opening)
            || line.starts_with(omitted)
            || looks(line.trim_start_matches(is_blank))
    })
}

/// What a reader may take for nothing, between words and in them.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || is_nothing(c)
}

/// What does not show and is no blank: what labels show as `\u{…}`, joiners, fillers and
/// variation selectors.
pub(crate) fn is_nothing(c: char) -> bool {
    let is_filler = || {
        matches!(c, '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}' | '\u{200C}' | '\u{200D}'
            | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{E0100}'..='\u{E01EF}')
    };
    !c.is_whitespace() && (is_hidden(c) || is_filler())
}

/// Characters of a word of ours at most.
pub(crate) const WORD_CHARS_MAX: usize = 32;

/// The word that a reader may see at the beginning: in lower case, without what does not show.
/// And what is behind it.
pub(crate) fn first_word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut rest = text.trim_start_matches(is_blank);
    while let Some(c) = rest.chars().next() {
        if is_of_word(c) && word.len() < WORD_CHARS_MAX {
            word.push(c.to_ascii_lowercase());
        } else if !is_nothing(c) {
            break;
        }
        rest = &rest[c.len_utf8()..];
    }
    (word, rest)
}

/// Whether words of ours have such characters, in some case.
pub(crate) fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
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
