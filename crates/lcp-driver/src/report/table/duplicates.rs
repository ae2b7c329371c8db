//! What a table says of duplicates: sums, and those that save most.

use std::cmp::Reverse;

use lcp_types::{DuplicateKind, Replacement};

use super::super::duplicates::covered;
use super::Table;
use super::style::fit;
use crate::block_view::label::push_word;
use crate::fmt::group_thousands;

/// Duplicates that have a line of their own.
const DUPLICATES_MAX: usize = 10;

/// Characters that a label has where there is no room for it.
const LABEL_CHARS_MIN: usize = 8;

impl Table<'_> {
    pub(super) fn dedup(&mut self) {
        let Some(sums) = self.plan.dedup_sums() else { return };
        self.heading("Deduplication:");
        self.line(format!("  Duplicates removed: {}", group_thousands(sums.removed)));
        self.line(format!("  Overlaps merged: {}", group_thousands(sums.merged)));
        for (name, blocks) in [
            ("Superseded removed", sums.superseded),
            ("Shown as a reference or a diff", sums.referred),
            ("Cut to lines of their own", sums.cut),
        ] {
            if blocks > 0 {
                self.line(format!("  {name}: {}", group_thousands(blocks)));
            }
        }
        self.line(format!("  Tokens saved: {}", group_thousands(sums.tokens_saved)));
    }

    /// Which blocks others cover, those first that save most.
    pub(super) fn duplicates(&mut self) {
        let mut rows: Vec<_> = covered(self.plan).collect();
        rows.sort_by_key(|(_, covered)| Reverse(covered.tokens_saved));
        let Some((_, first)) = rows.first() else { return };
        self.heading("Largest Duplicates:");
        let width = group_thousands(first.tokens_saved).len();
        for &(index, covered) in rows.iter().take(DUPLICATES_MAX) {
            self.duplicate(index, covered, width);
        }
        let rest = rows.get(DUPLICATES_MAX..).unwrap_or_default();
        if !rest.is_empty() {
            let tokens = rest.iter().map(|(_, covered)| covered.tokens_saved).sum();
            self.more(rest.len(), tokens);
        }
    }

    fn duplicate(&mut self, index: usize, covered: &Replacement, width: usize) {
        let label = |index: usize| {
            let mut label = String::new();
            push_word(&mut label, &self.plan.items[index].label);
            label
        };
        let (label, by) = (label(index), label(covered.by));
        let saved = group_thousands(covered.tokens_saved);
        let start = format!("  {saved:>width$} tokens  ");
        let middle = format!(" (#{index}): {} ", stands(covered));
        // Of the same file one label is enough.
        let (by, end) = match covered.by {
            other if label == by => (String::new(), format!("#{other}")),
            other => (by, format!(" (#{other})")),
        };
        let columns = usize::from(self.options.width);
        let room = columns.saturating_sub(start.len() + middle.len() + end.len());
        // Each has what the other leaves, and half of it at least.
        let fit = |text: &str, other: &str| {
            let left = room.saturating_sub(other.chars().count().min(room.div_ceil(2)));
            fit(text, if columns == 0 { 0 } else { left.max(LABEL_CHARS_MIN) })
        };
        self.line(format!("{start}{}{middle}{}{end}", fit(&label, &by), fit(&by, &label)));
    }
}

/// How a block stands to the one that is named behind.
fn stands(covered: &Replacement) -> &'static str {
    match covered.relation {
        DuplicateKind::Equal => "duplicate of",
        DuplicateKind::Contained => "within",
        DuplicateKind::Overlapping | DuplicateKind::Adjacent if covered.in_place => "cut for",
        DuplicateKind::Overlapping | DuplicateKind::Adjacent => "merged into",
        DuplicateKind::Superseded => "outdated by",
        DuplicateKind::Near => "near duplicate of",
        _ => "covered by",
    }
}
