//! Shorter forms of a summary: its beginning, which has the goal, and its end,
//! which has the newest.

use super::quoting::truncate_inline;

const MIDDLE: &str = "[…]";

/// Parts that a text must have to be shortened.
const PARTS_MIN: usize = 4;

const TAGS_CHARS: usize = 80;

/// The forms of a text below the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Abridged {
    /// Half of its parts.
    pub(super) detailed: String,
    /// A quarter of them.
    pub(super) brief: String,
    /// How it begins.
    pub(super) tags: String,
}

/// The shorter forms of `text`; `None` where it is too short for that.
pub(super) fn abridge(text: &str) -> Option<Abridged> {
    let lines = |text: &str| part_ends(text, |c, _| c == '\n');
    let sentences = |text: &str| {
        part_ends(text, |c, next| next.is_whitespace() && matches!(c, '.' | '!' | '?') || c == '\n')
    };
    let words = |text: &str| part_ends(text, |c, next| c.is_whitespace() && !next.is_whitespace());
    let ends = [lines(text), sentences(text), words(text)]
        .into_iter()
        .find(|ends| ends.len() + 1 >= PARTS_MIN)?;
    let parts = ends.len() + 1;
    let detailed = keep_ends(text, &ends, parts.div_ceil(2));
    let brief = keep_ends(text, &ends, parts.div_ceil(4));
    Some(Abridged { detailed, brief, tags: truncate_inline(text.trim_start(), TAGS_CHARS) })
}

/// The places behind which a part ends, the end of the text not among them.
fn part_ends(text: &str, is_end: impl Fn(char, char) -> bool) -> Vec<usize> {
    let next = text.chars().skip(1);
    let pairs = text.char_indices().zip(next);
    pairs.filter(|((_, c), next)| is_end(*c, *next)).map(|((at, c), _)| at + c.len_utf8()).collect()
}

/// The first half and the last half of `keep` parts, the first one larger.
fn keep_ends(text: &str, ends: &[usize], keep: usize) -> String {
    let (head, tail) = (keep.div_ceil(2), keep / 2);
    let head = ends.get(head.saturating_sub(1)).map_or(text, |end| &text[..*end]);
    let tail = ends.len().checked_sub(tail).and_then(|at| ends.get(at));
    let tail = tail.map_or("", |start| &text[*start..]);
    let parts = [head.trim_end(), MIDDLE, tail.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}
