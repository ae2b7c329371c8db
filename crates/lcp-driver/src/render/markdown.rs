//! Markdown: a heading a block, then prose as it is and everything else in a
//! fence that is longer than any run of backticks inside.
//!
//! Prose goes into a fence too where one of its lines could be taken for the
//! beginning of a block, where it begins with a fence, or where it leaves one
//! open: else it would swallow what follows.

use super::guard::{FENCE, could_be_head, lines, longest_run};
use super::{Part, Shown, push_head};
use crate::append::append;
use crate::view::View;

pub(crate) const HEADING: &str = "### ";
pub(crate) const OMITTED: &str = "_[Omitted: ";

pub(super) fn part<'v>(view: &View<'_>, shown: Shown, body: Option<&'v str>) -> Part<'v> {
    let mut head = HEADING.to_owned();
    push_head(&mut head, &view.head);
    let priority = view.head.priority.map(lcp_types::Priority::name);
    let notes: Vec<_> = priority.into_iter().chain(shown.name()).collect();
    if !notes.is_empty() {
        append(&mut head, format_args!(" ({})", notes.join(", ")));
    }
    let Some(text) = body else {
        return Part::line(head);
    };
    head.push('\n');
    let prose = view.prose || !shown.is_content();
    if prose && stands_alone(text) {
        return Part { head, body, tail: String::new() };
    }
    let fence = "`".repeat(FENCE.len().max(longest_run(text, b'`') + 1));
    head.push_str(&fence);
    if shown.is_content() {
        head.push_str(view.info);
    }
    head.push('\n');
    Part { head, body, tail: format!("{fence}\n") }
}

/// Whether prose can stand without a fence.
fn stands_alone(text: &str) -> bool {
    let fences = || lines(text).filter(|line| is_fence(line));
    !text.starts_with(FENCE) && fences().count() % 2 == 0 && !could_be_head(text, HEADING, OMITTED)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches(' ');
    line.starts_with(FENCE) || line.starts_with("~~~")
}
