//! Markdown: a heading a block, then prose as it is and everything else in a
//! fence that is longer than any run of backticks inside.
//!
//! Prose goes into a fence too where one of its lines could be taken for the
//! beginning of a block, where it begins with a fence, or where it may leave one
//! open, or HTML: else it would swallow what follows (`prose.rs`).

use super::guard::{FENCE, longest_run};
use super::prose::stands_alone;
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
