//! Formats the outcome of a conversation as a table.

use std::fmt::Write;

use lcp_continuity::coverage::Ratio;

use super::checks::Checks;
use super::drive::{HandedOver, Story};
use super::settings::{Mode, Settings};

const HEADINGS: [&str; 14] = [
    "hand-off", "epoch", "after", "messages", "tokens", "to", "ratio", "anchors", "steps", "state",
    "lost", "bytes", "summarizer", "reason",
];

/// The left-aligned columns. All others are right-aligned.
const WORDS: [usize; 3] = [0, 12, 13];

/// The number of characters of an id to print, enough to distinguish ids.
const ID_CHARS: usize = 14;

/// The maximum number of lines for items that the last hand-off lost.
const LOST_SHOWN: usize = 10;

/// Returns the table of all hand-offs, followed by the totals.
pub(super) fn table(settings: &Settings, story: &Story, checks: &Checks) -> String {
    let mut text = String::new();
    if !story.handed_over.is_empty() {
        rows(&mut text, &story.handed_over);
    }
    for mark in &story.marks {
        let (kind, percent) = (mark.kind.name(), percent(mark.tokens, settings));
        line(
            &mut text,
            format_args!(
                "{kind} after message {}: {} tokens ({percent}%)",
                mark.after, mark.tokens
            ),
        );
    }
    for compacted in &story.compacted {
        line(&mut text, format_args!("after message {}:", compacted.after));
        for said in compacted.compaction.lines() {
            line(&mut text, format_args!("  {said}"));
        }
    }
    totals(&mut text, settings, story, checks);
    if settings.is_kept() {
        recorded_as(&mut text, story);
    }
    text
}

/// Returns the directive of a hand-off below a line with its id.
pub(super) fn directive(handed: &HandedOver) -> String {
    let (id, tokens) = (&handed.handoff.handoff_id, handed.directive.tokens);
    format!("=== {id}, {tokens} tokens ===\n{}\n\n", handed.directive.text.trim_end())
}

fn rows(text: &mut String, handed_over: &[HandedOver]) {
    let rows: Vec<_> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(handed_over.iter().map(row)).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; HEADINGS.len()] = std::array::from_fn(width);
    for row in &rows {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            let is_words = WORDS.contains(&column);
            if is_words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        let cells: Vec<_> = cells.collect();
        line(text, format_args!("{}", cells.join("  ").trim_end()));
    }
    text.push('\n');
}

fn row(handed: &HandedOver) -> [String; HEADINGS.len()] {
    let HandedOver { after, handoff, pack, .. } = handed;
    let (metadata, fidelity) = (&handoff.metadata, &handoff.metadata.coverage);
    [
        handoff.handoff_id.chars().take(ID_CHARS).collect(),
        handoff.epoch.to_string(),
        after.to_string(),
        metadata.messages.to_string(),
        metadata.tokens_before.to_string(),
        metadata.tokens_after.to_string(),
        format!("{:.3}", metadata.compression_ratio),
        ratio(fidelity.anchors),
        ratio(fidelity.task_steps),
        ratio(fidelity.state),
        fidelity.lost.len().to_string(),
        pack.len().to_string(),
        metadata.summarizer.clone(),
        metadata.reason.clone(),
    ]
}

fn ratio(kept: Ratio) -> String {
    format!("{}/{}", kept.retained, kept.total)
}

fn totals(text: &mut String, settings: &Settings, story: &Story, checks: &Checks) {
    let (messages, tokens, window) = (story.messages.len(), story.tokens, settings.window);
    let (messages, tokens) =
        (lcp_driver::plural(messages, "message"), lcp_driver::plural(tokens, "token"));
    line(text, format_args!("{messages} of {tokens}, window {window}"));
    if settings.mode == Mode::Compact {
        line(text, format_args!("{}", lcp_driver::plural(story.compacted.len(), "compaction")));
        return;
    }
    line(text, format_args!("{}", lcp_driver::plural(story.handed_over.len(), "hand-off")));
    let Some(last) = story.handed_over.last() else { return };
    let Checks { anchors, anchors_identical, pairs, pairs_split, over_budget, .. } = checks;
    line(
        text,
        format_args!(
            "{anchors_identical} of {anchors} live anchors preserved verbatim in the last package"
        ),
    );
    line(text, format_args!("{} of {pairs} tool pairs intact", pairs - pairs_split));
    let over = lcp_driver::plural(*over_budget, "token");
    line(text, format_args!("{over} over the target of a resume prompt at most"));
    let gone = &last.handoff.metadata.coverage.lost;
    if !gone.is_empty() {
        let gone = lcp_driver::plural(gone.len(), "item");
        line(text, format_args!("{gone} only in the last package, not in its resume prompt:"));
    }
    for lost in gone.iter().take(LOST_SHOWN) {
        line(text, format_args!("  {lost}"));
    }
    if gone.len() > LOST_SHOWN {
        line(text, format_args!("  and {} more", gone.len() - LOST_SHOWN));
    }
    for missing in &checks.anchors_missing {
        line(text, format_args!("missing: {missing}"));
    }
}

/// Names the conversations in the store.
fn recorded_as(text: &mut String, story: &Story) {
    let Some((first, _)) = story.places.first() else { return };
    match story.handed_over.last() {
        Some(last) => {
            line(text, format_args!("recorded as {first}, continued as {}", last.resumed_as));
        }
        None => line(text, format_args!("recorded as {first}")),
    }
}

fn percent(tokens: u32, settings: &Settings) -> u64 {
    u64::from(tokens) * 100 / u64::from(settings.effective_window().max(1))
}

fn line(text: &mut String, said: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{said}");
}
