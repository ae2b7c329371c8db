//! The command `session usage`: prints how full the budget of a session is, with its history.

use std::fmt::Write;

use lcp_continuity::UsageSource;
use lcp_driver::usage::{UsageEntry, UsageStatus};
use lcp_driver::{group_thousands, plural};

use crate::table::{self, Column, TableStyle};
use crate::{Result, files};
use lcp_app::sessions::{Sessions, UsageReport};

/// The heights of a sparkline, from an empty budget to a full one.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn run(sessions: &Sessions, id: &str, as_json: bool) -> Result {
    let report = sessions.usage(id)?;
    let text = if as_json { files::json(&report.to_json()) } else { lines(&report) };
    files::print(&text)
}

fn lines(report: &UsageReport) -> String {
    let UsageReport { stored, status, .. } = report;
    let (usage, history) = (&stored.usage, &stored.history);
    let source = match usage.source {
        UsageSource::Counted => "counted",
        UsageSource::Reported => "reported",
    };
    let mut text = format!(
        "{}: {} of {} tokens ({}%, {source}), {} left\n",
        usage.conversation_id.escape_debug(),
        grouped(usage.total_tokens),
        grouped(stored.budget_tokens),
        status.percent,
        grouped(status.remaining),
    );
    let model = stored
        .model
        .as_ref()
        .map_or_else(String::new, |name| format!(", model {}", name.escape_debug()));
    let reserve = match stored.output_reserve_tokens {
        0 => String::new(),
        reserve => format!(", output reserve {}", grouped(reserve)),
    };
    let window = grouped(stored.window_tokens);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "window: {window}{reserve}{model}, epoch {}", usage.epoch);
    let _ = writeln!(text, "level: {} ({})", status.level.name(), report.advice());
    for line in report.warning_line().into_iter().chain(history.trend_line().as_deref()) {
        let _ = writeln!(text, "{line}");
    }
    let Some(average) = history.avg_usage() else {
        text += "history: no answers recorded\n";
        return text;
    };
    let _ = writeln!(
        text,
        "history: {}, average {} tokens, over budget {}",
        plural(history.recorded(), "answer"),
        group_thousands(average),
        plural(history.over_budget_count(), "time"),
    );
    let entries: Vec<_> = report.records.iter().map(|(entry, _)| entry).collect();
    let _ = writeln!(text, "\n{}\n", sparkline(&entries));
    text + &history_table(report)
}

fn grouped(tokens: u32) -> String {
    group_thousands(tokens.into())
}

/// Returns a bar for each record. The height shows how full the budget was.
fn sparkline(entries: &[&UsageEntry]) -> String {
    let bar = |entry: &&UsageEntry| {
        let eighths = u64::from(entry.used) * 8 / u64::from(entry.total).max(1);
        BARS[usize::try_from(eighths).unwrap_or(usize::MAX).min(BARS.len() - 1)]
    };
    entries.iter().map(bar).collect()
}

fn history_table(report: &UsageReport) -> String {
    const COLUMNS: [Column; 6] = [
        Column::Right("answer"),
        Column::Right("tokens"),
        Column::Right("budget"),
        Column::Right("used"),
        Column::Left("level"),
        Column::Left("model"),
    ];
    let first = report.stored.history.recorded() - report.records.len() as u64 + 1;
    let row = |(number, (entry, status)): (u64, &(UsageEntry, UsageStatus))| {
        vec![
            number.to_string(),
            grouped(entry.used),
            grouped(entry.total),
            format!("{}%", status.percent),
            status.level.name().to_owned(),
            entry.model.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = (first..).zip(&report.records).map(row).collect();
    table::render(&COLUMNS, &rows, TableStyle::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparkline_shows_how_full_the_budget_is() {
        let entry = |used, total| UsageEntry { model: None, total, used };
        let entries = [(0, 100), (13, 100), (50, 100), (99, 100), (100, 100), (300, 100), (1, 0)];
        let entries: Vec<_> = entries.iter().map(|(used, total)| entry(*used, *total)).collect();
        assert_eq!(sparkline(&entries.iter().collect::<Vec<_>>()), "▁▂▅████");
    }
}
