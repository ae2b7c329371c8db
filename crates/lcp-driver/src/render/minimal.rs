//! Minimal renderer: the fewest tokens that still separate blocks.
//!
//! A block is `[type label]` and its content, up to the next such line. A chat turn follows its
//! `[role]` on the same line. Content that itself has such a line is a heredoc, as in a shell: it
//! stands between `<<EOF` and `EOF`, or a numbered terminator if the content has that line too.

use super::collision::{MINIMAL, first_free_suffix, first_word, is_blank, is_reserved_word, lines};
use super::{Part, Shown, notes, push_head};
use crate::block_view::BlockView;
use crate::fmt::write_to;

/// The terminator of content that has lines like heads.
const TERMINATOR: &str = "EOF";

pub(super) fn part<'v>(view: &BlockView<'_>, shown: Shown, body: Option<&'v str>) -> Part<'v> {
    let mut head = MINIMAL.opening.to_owned();
    push_head(&mut head, &view.head);
    let all: Vec<_> = notes(view, shown).collect();
    if !all.is_empty() {
        write_to(&mut head, format_args!(" ({})", all.join(", ")));
    }
    let Some(text) = body else {
        head.push(']');
        return Part::line(head);
    };
    if MINIMAL.may_begin_in(text, looks_like_head) {
        let word = heredoc_terminator(text);
        write_to(&mut head, format_args!(" <<{word}]\n"));
        return Part { head, body, tail: format!("{word}\n") };
    }
    // A turn is short, so it shares the line of its speaker.
    head.push_str(if view.head.role.is_some() { "] " } else { "]\n" });
    Part { head, body, tail: String::new() }
}

/// Returns whether a reader may take a line for a head or a placeholder.
fn looks_like_head(line: &str) -> bool {
    let Some(inside) = line.strip_prefix(MINIMAL.opening) else { return false };
    let (word, rest) = first_word(inside);
    is_reserved_word(&word) && !rest.starts_with(|c| !is_blank(c) && !matches!(c, ']' | ':'))
}

/// Returns `EOF`, or `EOF` with the smallest number from 2 on that is free if `text` has such a
/// line.
fn heredoc_terminator(text: &str) -> String {
    let ends = || {
        lines(text).filter_map(|line| {
            let (word, rest) = first_word(line);
            let number = word.strip_prefix("eof")?.to_owned();
            rest.chars().all(is_blank).then_some(number)
        })
    };
    if !ends().any(|number| number.is_empty()) {
        return TERMINATOR.to_owned();
    }
    format!("{TERMINATOR}{}", first_free_suffix(ends().filter_map(|number| number.parse().ok())))
}
