//! Minimal: the fewest tokens that keep blocks apart.
//!
//! A block is `[type label]` and its content up to the next such line; a chat
//! turn stands on the line of its `[role]`. Content that has a line like that
//! of its own stands between `<<EOF` and `EOF`, as in a shell, with a number
//! where it has such a line too.

use super::guard::{could_be_head, free_number, is_blank, lines};
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
    if could_be_head(text, OPENING, OMITTED) {
        let word = heredoc(text);
        append(&mut head, format_args!(" <<{word}]\n"));
        return Part { head, body, tail: format!("{word}\n") };
    }
    // A turn is short, so it shares the line of its speaker.
    head.push_str(if view.head.role.is_some() { "] " } else { "]\n" });
    Part { head, body, tail: String::new() }
}

/// `EOF`, or with the smallest number that no line of `text` has, whatever blanks are around it.
fn heredoc(text: &str) -> String {
    let ends = || lines(text).filter_map(|line| line.trim_matches(is_blank).strip_prefix(HEREDOC));
    if !ends().any(str::is_empty) {
        return HEREDOC.to_owned();
    }
    format!("{HEREDOC}{}", free_number(ends().filter_map(|number| number.parse().ok())))
}
