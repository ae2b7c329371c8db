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
/// `opening` and a head word, or `omitted`.
pub(crate) fn could_be_head(content: &str, opening: &str, omitted: &str) -> bool {
    content.contains(opening) && lines(content).any(|line| begins_part(line, opening))
        || content.contains(omitted) && lines(content).any(|line| line.starts_with(omitted))
}

/// Whether `line` begins with `opening` and a head word.
pub(crate) fn begins_part(line: &str, opening: &str) -> bool {
    line.strip_prefix(opening).is_some_and(|rest| {
        let end = rest.find([' ', ']', ':', '\r', '\n']).unwrap_or(rest.len());
        is_head_word(&rest[..end])
    })
}

/// Lines as the modes have them: what stands between newlines, and nothing else.
pub(crate) fn lines(text: &str) -> std::str::Split<'_, char> {
    text.split('\n')
}

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
