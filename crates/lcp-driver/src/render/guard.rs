//! What content must not be taken for: the lines that begin a part.

use lcp_types::BlockType;

/// The shortest fence of Markdown.
pub(crate) const FENCE: &str = "```";

/// The words that a head in brackets or behind a heading mark begins with.
pub(crate) fn is_head_word(word: &str) -> bool {
    matches!(word, "system" | "user" | "assistant" | "tool" | "raw")
        || BlockType::from_label(word).is_some()
        || word.strip_prefix("role-").is_some_and(|code| code.parse::<u8>().is_ok())
}

/// Whether any line of `content` could be taken for the first line of a part:
/// `opening` and a head word, or `omitted`. `blanks`: also with other blanks than theirs, as
/// Markdown has it.
pub(crate) fn could_be_head(content: &str, opening: &str, omitted: &str, blanks: bool) -> bool {
    let [opening, omitted] =
        [opening, omitted].map(|mark| if blanks { mark.trim_end() } else { mark });
    (content.contains(opening) || content.contains(omitted))
        && lines(content).any(|line| {
            let line = if blanks { line.trim_start() } else { line };
            let rest = line.strip_prefix(opening);
            let rest = rest.map(|rest| if blanks { rest.trim_start() } else { rest });
            rest.is_some_and(begins_with_head_word) || line.starts_with(omitted)
        })
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
