//! What a table says of the blocks: sums by decision, reason and priority, the
//! largest cuts, warnings and the suggestion.

use std::collections::BTreeMap;

use super::super::figures::{Cut, cuts, percent};
use super::super::json::Sum;
use super::super::names::{rank, title};
use super::Table;
use super::style::{bar, fit, pad};
use crate::block_view::label::push_word;
use crate::fmt::group_thousands;
use crate::plan::RenderDecision;
use crate::plan::{Plan, PlanItem};

/// Cuts that have a line of their own.
const CUTS_MAX: usize = 10;

/// The sums by category, the largest first.
pub(super) fn by_category(plan: &Plan) -> Vec<(&str, Sum)> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for item in said(plan) {
        sums.entry(&item.category).or_default().add(item);
    }
    let mut rows: Vec<_> = sums.into_iter().collect();
    rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.tokens));
    rows
}

/// The blocks that are not about other blocks.
fn said(plan: &Plan) -> impl Iterator<Item = &PlanItem> {
    plan.items.iter().filter(|item| item.decision != RenderDecision::Metadata)
}

/// A name, blocks where there are any, and tokens.
type Row = (&'static str, Option<u64>, u64);

fn row(name: &'static str, sum: Sum) -> Row {
    (name, Some(sum.blocks), sum.tokens)
}

impl Table<'_> {
    pub(super) fn sections(&mut self) {
        let plan = self.plan;
        let mut by_decision: BTreeMap<_, Sum> = BTreeMap::new();
        let mut by_reason: BTreeMap<_, Sum> = BTreeMap::new();
        let mut by_priority: BTreeMap<_, Sum> = BTreeMap::new();
        for item in &plan.items {
            let decision = item.decision.name();
            by_decision.entry((rank(decision), decision)).or_default().add(item);
            by_reason.entry(item.reason.name()).or_default().add(item);
        }
        for item in said(plan) {
            by_priority.entry(item.priority).or_default().add(item);
        }
        let mut decisions: Vec<_> =
            by_decision.into_iter().map(|((_, name), sum)| row(name, sum)).collect();
        decisions.push(("overhead", None, plan.overhead_tokens.into()));
        let mut reasons: Vec<_> = by_reason.into_iter().map(|(name, sum)| row(name, sum)).collect();
        reasons.sort_by_key(|(_, blocks, tokens)| std::cmp::Reverse((*tokens, *blocks)));
        let priorities: Vec<_> =
            by_priority.into_iter().map(|(priority, sum)| row(priority.name(), sum)).collect();
        self.sums("By Decision:", &decisions);
        self.sums("By Reason:", &reasons);
        self.sums("By Priority:", &priorities);
        self.cuts();
        self.duplicates();
    }

    /// Rows of a name, blocks and tokens, in columns that are the same in
    /// every section.
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
            let name = format!("{}:", title(name));
            let mut line = format!(
                "  {name:<NAME$}{blocks:>NUMBER$}{:>NUMBER$} {share:<6}",
                group_thousands(*tokens)
            );
            let room = self.room(line.chars().count() + 2);
            if room > 0 {
                line.push_str("  ");
                line.push_str(&self.style.bar(&bar(*tokens, used, room)));
            }
            self.line(line);
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
                pad(&title(item.decision.name()), 11),
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

    /// Rows that have no line of their own, and their tokens.
    pub(super) fn more(&mut self, rows: usize, tokens: u64) {
        let more = format!(
            "  and {} more, {} tokens",
            group_thousands(rows as u64),
            group_thousands(tokens)
        );
        self.line(self.style.dim(&more));
    }

    /// What is left to say: how tokens were counted, what to look at.
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
            self.line(self.style.alert(&line));
        }
        if let Some(suggestion) = self.plan.suggestion() {
            let line = format!("Suggestion: {suggestion}");
            self.line(self.style.alert(&line));
        }
    }
}
