//! Markdown renderer: a heading for each block, then prose without a fence, or other content in a
//! fence that is longer than any run of backticks inside.
//!
//! Prose gets a fence too unless it is self-contained (`commonmark.rs`). Otherwise it could hide
//! the next heading, or look like one.

use super::collision::{FENCE, MARKDOWN, longest_run};
use super::commonmark::is_self_contained;
use super::{Part, Shown, notes, push_head};
use crate::block_view::BlockView;
use crate::fmt::write_to;

/// Renders a block with this body.
///
/// The heading has the priority and the level in parentheses. The info string of a fence has the
/// language of the content. Summaries and tags have no language, and are prose in every block type.
pub(super) fn part<'v>(view: &BlockView<'_>, shown: Shown, body: Option<&'v str>) -> Part<'v> {
    let mut head = MARKDOWN.opening.to_owned();
    push_head(&mut head, &view.head);
    let priority = view.head.priority.map(lcp_types::Priority::name);
    let all: Vec<_> = priority.into_iter().chain(notes(view, shown)).collect();
    if !all.is_empty() {
        write_to(&mut head, format_args!(" ({})", all.join(", ")));
    }
    let Some(text) = body else {
        return Part::line(head);
    };
    head.push('\n');
    let prose = view.prose || !shown.is_content();
    if prose && is_self_contained(text) {
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
