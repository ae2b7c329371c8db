//! The sections of a table about blocks: sums by decision, reason and priority, the largest cuts and
//! duplicates, warnings and the suggestion.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lcp_types::{DuplicateKind, Replacement};

use super::super::display_names::{decision_rank, display_name};
use super::super::metrics::{BlockSum, Cut, covered, cuts, percent};
use super::Table;
use super::style::{CYAN, DIM, YELLOW, bar, fit, pad};
use crate::block_view::label::{LABEL_CHARS_MAX, escape_control, push_word};
use crate::fmt::{group_thousands, write_to};
use crate::plan::{DecisionReason, Plan, PlanItem, PlanSegment, RenderDecision};

const CUTS_MAX: usize = 10;

const DUPLICATES_MAX: usize = 10;

const LABEL_CHARS_MIN: usize = 8;

/// Returns the sums by category, the largest first.
pub(super) fn by_category(plan: &Plan) -> Vec<(&str, BlockSum)> {
    let mut sums: BTreeMap<&str, BlockSum> = BTreeMap::new();
    for item in subject_items(plan) {
        sums.entry(&item.category).or_default().add(item);
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(_, sum)| Reverse(sum.tokens));
    rows
}

/// Returns the items of blocks that are not about other blocks.
fn subject_items(plan: &Plan) -> impl Iterator<Item = &PlanItem> {
    plan.items.iter().filter(|item| item.decision != RenderDecision::Metadata)
}

/// A name, the number of blocks if there are any, and tokens.
type Row = (&'static str, Option<u64>, u64);

fn row(name: &'static str, sum: BlockSum) -> Row {
    (name, Some(sum.blocks), sum.tokens)
}

impl Table<'_> {
    pub(super) fn sections(&mut self) {
        let plan = self.plan;
        let mut by_decision: BTreeMap<_, BlockSum> = BTreeMap::new();
        let mut by_reason: BTreeMap<_, BlockSum> = BTreeMap::new();
        let mut by_priority: BTreeMap<_, BlockSum> = BTreeMap::new();
        for item in &plan.items {
            let decision = item.decision.name();
            by_decision.entry((decision_rank(decision), decision)).or_default().add(item);
            by_reason.entry(item.reason.name()).or_default().add(item);
        }
        for item in subject_items(plan) {
            by_priority.entry(item.priority).or_default().add(item);
        }
        let mut decisions: Vec<_> =
            by_decision.into_iter().map(|((_, name), sum)| row(name, sum)).collect();
        decisions.push(("overhead", None, plan.overhead_tokens.into()));
        let mut reasons: Vec<_> = by_reason.into_iter().map(|(name, sum)| row(name, sum)).collect();
        reasons.sort_by_key(|(_, blocks, tokens)| Reverse((*tokens, *blocks)));
        let priorities: Vec<_> =
            by_priority.into_iter().map(|(priority, sum)| row(priority.name(), sum)).collect();
        self.sums("By Decision:", &decisions);
        self.sums("By Reason:", &reasons);
        self.sums("By Priority:", &priorities);
        self.segments();
        self.cuts();
        self.duplicates();
        if self.options.explain {
            self.reasons();
        }
    }

    /// Prints the reasons for the rank of each block whose content is shown.
    fn reasons(&mut self) {
        let shown = self.plan.items.iter().filter(|item| item.decision.has_content());
        let mut shown = shown.filter(|item| !item.why.is_empty()).peekable();
        if shown.peek().is_none() {
            return;
        }
        self.heading("Why Shown:");
        let width = usize::from(self.options.width);
        for item in shown {
            let mut label = String::from("  ");
            push_word(&mut label, &item.label);
            if let RenderDecision::Excerpt(excerpt) = &item.decision {
                let ranges = excerpt.lines.iter().map(|(first, last)| format!("{first}–{last}"));
                let lines = ranges.collect::<Vec<_>>().join(", ");
                if !lines.is_empty() {
                    write_to(&mut label, format_args!(" (lines {lines})"));
                }
            }
            self.line(fit(&label, width));
            let most = if width == 0 { LABEL_CHARS_MAX } else { width };
            for reason in item.why.iter() {
                let reason = format!("    {}", escape_control(reason));
                self.line(reason.chars().take(most).collect::<String>());
            }
        }
    }

    /// Prints rows of a name, blocks and tokens, in the same columns in every section.
    fn sums(&mut self, heading: &str, rows: &[Row]) {
        const NAME: usize = 16;
        const NUMBER: usize = 11;
        if rows.is_empty() {
            return;
        }
        self.heading(&format!(
            "{heading:<width$}{:>NUMBER$}{:>NUMBER$}",
            "blocks",
            "tokens",
            width = NAME + 2
        ));
        for (name, blocks, tokens) in rows {
            let blocks = blocks.map(group_thousands).unwrap_or_default();
            let used = u64::from(self.plan.used_tokens);
            let share = percent(*tokens, used).map(|part| format!("({part}%)")).unwrap_or_default();
            let name = format!("{}:", display_name(name));
            let mut line = format!(
                "  {name:<NAME$}{blocks:>NUMBER$}{:>NUMBER$} {share:<6}",
                group_thousands(*tokens)
            );
            let room = self.room(line.chars().count() + 2);
            if room > 0 {
                line.push_str("  ");
                line.push_str(&self.paint(CYAN, &bar(*tokens, used, room)));
            }
            self.line(line);
        }
    }

    /// Prints a row for each segment: its blocks, level, tokens and reason.
    fn segments(&mut self) {
        let segments = &self.plan.segments;
        if segments.is_empty() {
            return;
        }
        let row = |segment: &PlanSegment| {
            let (level, reason) = match (segment.level, segment.reason) {
                (Some(level), Some(reason)) => (level.name(), reason.name()),
                _ => ("omitted", DecisionReason::OverBudget.name()),
            };
            let (first, last) = (segment.blocks.start, segment.blocks.end.saturating_sub(1));
            let blocks = format!("blocks {first}–{last}");
            let mut id = String::new();
            push_word(&mut id, &segment.id);
            let tokens = format!("{} tokens", group_thousands(segment.tokens.into()));
            [fit(&id, LABEL_CHARS_MAX), blocks, display_name(level), tokens, display_name(reason)]
        };
        let rows: Vec<_> = segments.iter().map(row).collect();
        let width = |column: usize| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
        };
        let widths = [0, 1, 2, 3].map(width);
        self.heading("Segments:");
        for [id, blocks, level, tokens, reason] in &rows {
            let (id, blocks) = (pad(id, widths[0]), pad(blocks, widths[1]));
            let (level, tokens_width) = (pad(level, widths[2]), widths[3]);
            self.line(format!("  {id}  {blocks}  {level}  {tokens:>tokens_width$}  {reason}"));
        }
    }

    fn cuts(&mut self) {
        let cuts = cuts(self.plan);
        if cuts.is_empty() {
            return;
        }
        self.heading("Largest Cuts:");
        let width = cuts.first().map_or(0, |cut| group_thousands(cut.tokens.into()).len());
        for Cut { item, tokens, .. } in cuts.iter().take(CUTS_MAX) {
            let mut label = String::new();
            push_word(&mut label, &item.label);
            let lines = match &item.decision {
                RenderDecision::Excerpt(excerpt) if excerpt.omitted_lines == 1 => {
                    " (1 line omitted)".to_owned()
                }
                RenderDecision::Excerpt(excerpt) => {
                    format!(" ({} lines omitted)", group_thousands(excerpt.omitted_lines as u64))
                }
                _ => String::new(),
            };
            let line = format!(
                "  {:>width$} tokens  {}  ",
                group_thousands(u64::from(*tokens)),
                pad(&display_name(item.decision.name()), 11),
            );
            let taken = line.chars().count() + lines.chars().count();
            let label = fit(&label, usize::from(self.options.width).saturating_sub(taken));
            self.line(format!("{line}{label}{lines}"));
        }
        let rest = cuts.get(CUTS_MAX..).unwrap_or_default();
        if !rest.is_empty() {
            self.more(rest.len(), rest.iter().map(|cut| u64::from(cut.tokens)).sum());
        }
    }

    pub(super) fn more(&mut self, rows: usize, tokens: u64) {
        let more = format!(
            "  and {} more, {} tokens",
            group_thousands(rows as u64),
            group_thousands(tokens)
        );
        self.line(self.paint(DIM, &more));
    }

    pub(super) fn ending(&mut self) {
        if !self.plan.items.is_empty() {
            let counts = if self.plan.exact { "exact" } else { "estimated" };
            let mut encoding = String::new();
            push_word(&mut encoding, &self.plan.encoding);
            self.line("");
            self.line(format!("Counts: {counts}, {encoding}"));
        }
        let mut codes: Vec<(&str, u64)> = Vec::new();
        for warning in &self.plan.warnings {
            let code = warning.code.name();
            match codes.iter_mut().find(|(known, _)| *known == code) {
                Some((_, times)) => *times += 1,
                None => codes.push((code, 1)),
            }
        }
        if !codes.is_empty() {
            let times = |(code, times): &(&str, u64)| match times {
                1 => (*code).to_owned(),
                times => format!("{code} × {}", group_thousands(*times)),
            };
            let list: Vec<_> = codes.iter().map(times).collect();
            let warnings = group_thousands(self.plan.warnings.len() as u64);
            let line = format!("Warnings: {warnings} ({})", list.join(", "));
            self.line(self.paint(YELLOW, &line));
        }
        if let Some(suggestion) = self.plan.suggestion() {
            let line = format!("Suggestion: {suggestion}");
            self.line(self.paint(YELLOW, &line));
        }
    }

    pub(super) fn dedup(&mut self) {
        let Some(sums) = self.plan.dedup_stats() else { return };
        self.heading("Deduplication:");
        self.line(format!("  Duplicates removed: {}", group_thousands(sums.removed)));
        self.line(format!("  Overlaps merged: {}", group_thousands(sums.merged)));
        for (name, blocks) in [
            ("Superseded removed", sums.superseded),
            ("Shown as a reference or a diff", sums.references),
            ("Cut to unique lines", sums.cut),
        ] {
            if blocks > 0 {
                self.line(format!("  {name}: {}", group_thousands(blocks)));
            }
        }
        self.line(format!("  Tokens saved: {}", group_thousands(sums.tokens_saved)));
    }

    /// Prints the covered blocks that save the most tokens.
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
        let middle = format!(" (#{index}): {} ", relation_words(covered));
        // For the same file, one label is enough.
        let (by, end) = match covered.by {
            other if label == by => (String::new(), format!("#{other}")),
            other => (by, format!(" (#{other})")),
        };
        let columns = usize::from(self.options.width);
        let room = columns.saturating_sub(start.len() + middle.len() + end.len());
        // Each label gets the room that the other leaves, at least half.
        let fit = |text: &str, other: &str| {
            let left = room.saturating_sub(other.chars().count().min(room.div_ceil(2)));
            fit(text, if columns == 0 { 0 } else { left.max(LABEL_CHARS_MIN) })
        };
        self.line(format!("{start}{}{middle}{}{end}", fit(&label, &by), fit(&by, &label)));
    }
}

fn relation_words(covered: &Replacement) -> &'static str {
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
