//! The pre-tokenizers for one piece at a time, without a regular expression.
//!
//! Each function implements one of the patterns of tiktoken and tries its alternatives in order. It
//! never looks back and reads each character a constant number of times, so the time is linear for
//! every text.

use super::super::unicode::{LETTER, LOWER, NUMBER, SPACE, UPPER, class};

/// ```text
/// [^\r\n\p{L}\p{N}]? U* L+ (?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// | [^\r\n\p{L}\p{N}]? U+ L* (?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// | \p{N}{1,3} |  ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
/// ```
/// where U is [`UPPER`] and L is [`LOWER`].
pub(super) fn o200k(text: &[u8], at: usize) -> usize {
    let (first, len) = class(text, at);
    let prefix = first & (LETTER | NUMBER) == 0 && !is_newline(text[at]);
    let behind = at + len;
    if prefix && let Some(end) = cased_word(text, behind) {
        return contraction(text, end, true);
    }
    if first & (UPPER | LOWER) != 0
        && let Some(end) = cased_word(text, at)
    {
        return contraction(text, end, true);
    }
    // At this point the upper-case run is not followed by lower case.
    if prefix {
        let end = run(text, behind, UPPER);
        if end > behind {
            return contraction(text, end, true);
        }
    }
    if first & UPPER != 0 {
        return contraction(text, run(text, at, UPPER), true);
    }
    if first & NUMBER != 0 {
        return numbers(text, behind);
    }
    punctuation(text, at, |byte| is_newline(byte) || byte == b'/')
        .unwrap_or_else(|| white_space(text, at, true))
}

/// ```text
/// '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3}
/// |  ?[^\s\p{L}\p{N}]+[\r\n]* | \s+$ | \s*[\r\n] | \s+(?!\S) | \s
/// ```
pub(super) fn cl100k(text: &[u8], at: usize) -> usize {
    let end = contraction(text, at, true);
    if end > at {
        return end;
    }
    let (first, len) = class(text, at);
    let behind = at + len;
    if first & LETTER != 0 {
        return run(text, behind, LETTER);
    }
    if first & NUMBER != 0 {
        return numbers(text, behind);
    }
    if !is_newline(text[at]) {
        let end = run(text, behind, LETTER);
        if end > behind {
            return end;
        }
    }
    punctuation(text, at, is_newline).unwrap_or_else(|| white_space(text, at, true))
}

/// ```text
/// '(?:[sdmt]|ll|ve|re) |  ?\p{L}+ |  ?\p{N}+ |  ?[^\s\p{L}\p{N}]+ | \s+$ | \s+(?!\S) | \s
/// ```
pub(super) fn gpt2(text: &[u8], at: usize) -> usize {
    let end = contraction(text, at, false);
    if end > at {
        return end;
    }
    let start = at + usize::from(text[at] == b' ');
    for kind in [LETTER, NUMBER] {
        let end = run(text, start, kind);
        if end > start {
            return end;
        }
    }
    punctuation(text, at, |_| false).unwrap_or_else(|| white_space(text, at, false))
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Returns the end of a run of characters of any of these kinds.
#[inline]
fn run(text: &[u8], mut at: usize, kinds: u8) -> usize {
    while at < text.len() {
        let (kind, len) = class(text, at);
        if kind & kinds == 0 {
            break;
        }
        at += len;
    }
    at
}

/// Returns the end of `U* L+` at `at`.
///
/// Characters of both classes are matched by U first. If no L follows, U backtracks to its last
/// character that is also L.
#[inline]
fn cased_word(text: &[u8], mut at: usize) -> Option<usize> {
    let mut last_lower = None;
    while at < text.len() {
        let (kind, len) = class(text, at);
        if kind & UPPER == 0 {
            if kind & LOWER != 0 {
                return Some(run(text, at + len, LOWER));
            }
            break;
        }
        at += len;
        if kind & LOWER != 0 {
            last_lower = Some(at);
        }
    }
    last_lower
}

/// Returns the end of an English contraction at `at`, or `at` if there is no contraction. If case
/// is ignored, `s` also matches the long `ſ`.
#[inline]
fn contraction(text: &[u8], at: usize, any_case: bool) -> usize {
    if text.get(at) != Some(&b'\'') {
        return at;
    }
    let letter = |i: usize| match text.get(at + i) {
        Some(byte) if any_case => byte.to_ascii_lowercase(),
        Some(byte) => *byte,
        None => 0,
    };
    let long_s = any_case && text.get(at + 1..at + 3) == Some("ſ".as_bytes());
    match (letter(1), letter(2)) {
        (b's' | b't' | b'm' | b'd', _) => at + 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => at + 3,
        _ if long_s => at + 3,
        _ => at,
    }
}

/// Returns the end of one to three numbers. The first one ends at `at`.
fn numbers(text: &[u8], mut at: usize) -> usize {
    for _ in 0..2 {
        match text.get(at).map(|_| class(text, at)) {
            Some((kind, len)) if kind & NUMBER != 0 => at += len,
            _ => break,
        }
    }
    at
}

/// Returns the end of ` ?[^\s\p{L}\p{N}]+` and of the trailing bytes.
#[inline]
fn punctuation(text: &[u8], at: usize, trails: impl Fn(u8) -> bool) -> Option<usize> {
    let start = at + usize::from(text[at] == b' ');
    let mut end = start;
    while end < text.len() {
        let (kind, len) = class(text, end);
        if kind & (SPACE | LETTER | NUMBER) != 0 {
            break;
        }
        end += len;
    }
    if end == start {
        return None;
    }
    while end < text.len() && trails(text[end]) {
        end += 1;
    }
    Some(end)
}

/// Returns the end of a piece of white space. It is the first of these that applies:
///
/// 1. after the last newline of the run, if `cuts_at_newlines`;
/// 2. the end of the run, if it is at the end of the text or has only one character;
/// 3. before the last character of the run, which belongs to the following piece.
///
/// The `\s+$` of cl100k would match newlines and blanks at the end of a text as one piece. No token
/// has white space after its last newline (a test verifies this), so cutting there gives the same
/// count.
fn white_space(text: &[u8], at: usize, cuts_at_newlines: bool) -> usize {
    let (mut end, mut last, mut newline) = (at, at, None);
    while end < text.len() {
        let (kind, len) = class(text, end);
        if kind & SPACE == 0 {
            break;
        }
        if is_newline(text[end]) {
            newline = Some(end + 1);
        }
        last = end;
        end += len;
    }
    match newline {
        Some(newline) if cuts_at_newlines => newline,
        _ if end == text.len() || last == at => end,
        _ => last,
    }
}
