//! Minimal: the fewest tokens that keep blocks apart.
//!
//! A block is `[type label]` and its content up to the next such line; a chat
//! turn stands on the line of its `[role]`. Content that has a line like that
//! of its own stands between `<<EOF` and `EOF`, as in a shell, with a number
//! where it has such a line too.

use super::guard::{could_be_head, first_word, free_number, is_blank, is_ours, lines};
use super::{Part, Shown, push_head};
use crate::append::append;
use crate::view::View;

/// The word that ends content which could be taken for something else.
pub(crate) const HEREDOC: &str = "EOF";

pub(crate) const OPENING: &str = "[";
pub(crate) const OMITTED: &str = "[omitted: ";

pub(super) fn part<'v>(view: &View<'_>, shown: Shown, body: Option<&'v str>) -> Part<'v> {
    let mut head = OPENING.to_owned();
    push_head(&mut head, &view.head);
    if let Some(detail) = shown.name() {
        append(&mut head, format_args!(" ({detail})"));
    }
    let Some(text) = body else {
        head.push(']');
        return Part::line(head);
    };
    if text.contains(OPENING) && could_be_head(text, OPENING, OMITTED, looks_like_head) {
        let word = heredoc(text);
        append(&mut head, format_args!(" <<{word}]\n"));
        return Part { head, body, tail: format!("{word}\n") };
    }
    // A turn is short, so it shares the line of its speaker.
    head.push_str(if view.head.role.is_some() { "] " } else { "]\n" });
    Part { head, body, tail: String::new() }
}

/// Whether a line may be taken for a head or a placeholder: by its word, whatever its case and
/// the blanks around it.
fn looks_like_head(line: &str) -> bool {
    let Some(inside) = line.strip_prefix(OPENING) else { return false };
    let (word, rest) = first_word(inside);
    is_ours(&word) && !rest.starts_with(|c| !is_blank(c) && !matches!(c, ']' | ':'))
}

/// `EOF`, or with the smallest number that no line of `text` has, in any case and whatever blanks
/// are around it.
fn heredoc(text: &str) -> String {
    let ends = || {
        lines(text).filter_map(|line| {
            let (word, rest) = first_word(line);
            let number = word.strip_prefix("eof")?.to_owned();
            rest.chars().all(is_blank).then_some(number)
        })
    };
    if !ends().any(|number| number.is_empty()) {
        return HEREDOC.to_owned();
    }
    format!("{HEREDOC}{}", free_number(ends().filter_map(|number| number.parse().ok())))
}
