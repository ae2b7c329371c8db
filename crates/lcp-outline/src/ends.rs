//! Texts of which nothing is known: their first and last lines.

use crate::{Options, Page};

/// Keeps the first and last lines, and says how many are between.
pub(crate) fn fill(page: &mut Page<'_>, options: &Options) -> bool {
    let lines = page.lines();
    let first = options.first_lines.min(lines);
    let last = lines.saturating_sub(options.last_lines).max(first);
    for line in 0..first {
        page.keep_line(line);
    }
    page.mark_lines(last);
    for line in last..lines {
        page.keep_line(line);
    }
    true
}
