//! The usage of a conversation: levels, warnings, trend and history.

use lcp_continuity::{ConversationUsage, TokenUsage};
use lcp_driver::usage::{UsageEntry, UsageHistory, UsageLevel, UsageStatus};
use serde_json::{Value, json};

use crate::config::Usage;

/// The usage of a conversation, judged by `[context.usage]`.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageReport {
    /// The current usage and the history.
    pub stored: ConversationUsage,
    /// The level of the current usage, and its warning.
    pub status: UsageStatus,
    /// The listed records of the history, oldest first, each with its level and its warning.
    pub records: Vec<(UsageEntry, UsageStatus)>,
}

impl UsageReport {
    /// Judges a usage. Levels and warnings depend on earlier records, so the whole history is
    /// judged again.
    pub fn new(stored: ConversationUsage, settings: &Usage) -> Self {
        let mut monitor = settings.monitor();
        let records: Vec<_> = stored
            .history
            .entries()
            .map(|entry| (entry.clone(), monitor.record(entry.used, entry.total)))
            .collect();
        let (used, total) = (stored.usage.total_tokens, stored.budget_tokens);
        // If nothing is new since the last answer, its status is current, and is not recorded
        // again.
        let last = records.last().filter(|(entry, _)| (entry.used, entry.total) == (used, total));
        let status = match last {
            Some((_, status)) => status.clone(),
            None => monitor.record(used, total),
        };
        Self { stored, status, records }
    }

    /// Returns the warning about the current usage.
    pub fn warning_line(&self) -> Option<&str> {
        self.status.warning_line.as_deref()
    }

    /// Returns the lines for debugging: the current usage, and after every fifth answer the trend.
    pub fn debug_lines(&self) -> Vec<String> {
        let history = &self.stored.history;
        let is_fifth =
            history.recorded() > 0 && history.recorded().is_multiple_of(UsageHistory::TREND as u64);
        let trend = history.trend_line().filter(|_| is_fifth);
        std::iter::once(self.status.debug_line.clone()).chain(trend).collect()
    }

    /// Returns the budget and its use as JSON.
    pub(super) fn budget_json(&self) -> Value {
        let UsageStatus { level, percent, remaining, over, warning_line, .. } = &self.status;
        json!({
            "tokens": self.stored.budget_tokens,
            "level": level.name(),
            "percent": percent,
            "remaining_tokens": remaining,
            "over_tokens": over,
            "warning": warning_line,
        })
    }

    /// Returns the report as JSON (`lcp.usage.v1`).
    pub fn to_json(&self) -> Value {
        let ConversationUsage { usage, history, .. } = &self.stored;
        let record = |(entry, status): &(UsageEntry, UsageStatus)| {
            json!({
                "model": entry.model,
                "budget": entry.total,
                "used_tokens": entry.used,
                "percent": status.percent,
                "level": status.level.name(),
                "warning": status.warning_line,
            })
        };
        json!({
            "schema": "lcp.usage.v1",
            "conversation": usage.conversation_id,
            "model": self.stored.model,
            "window": self.stored.window_tokens,
            "output_reserve": self.stored.output_reserve_tokens,
            "epoch": usage.epoch,
            "usage": usage_json(usage),
            "budget": self.budget_json(),
            "trend": history.trend(),
            "average": history.avg_usage(),
            "answers": history.recorded(),
            "over_budget": history.over_budget_count(),
            "history": self.records.iter().map(record).collect::<Vec<_>>(),
        })
    }

    /// Returns the action that the level asks for, in words.
    pub fn advice(&self) -> &'static str {
        match self.status.level {
            UsageLevel::Normal => "nothing to do",
            UsageLevel::Warning => "consider a compaction",
            UsageLevel::Critical => "compact the session",
        }
    }
}

/// Returns the usage as JSON.
pub(super) fn usage_json(usage: &TokenUsage) -> Value {
    json!({
        "total_tokens": usage.total_tokens,
        "system_prompt_tokens": usage.system_prompt_tokens,
        "history_tokens": usage.conversation_history_tokens,
        "last_message_tokens": usage.last_message_tokens,
        "average_tokens_per_turn": usage.average_tokens_per_turn,
        "cached_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "source": usage.source,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Config;

    fn report(used: &[u32], current: u32, settings: &str) -> UsageReport {
        let config = Config::parse(Path::new("lcp.toml"), settings).unwrap();
        let mut history = UsageHistory::default();
        for used in used {
            history.record(None, 1_000, *used);
        }
        let usage = TokenUsage { total_tokens: current, ..TokenUsage::default() };
        let stored = ConversationUsage {
            usage,
            window_tokens: 1_250,
            output_reserve_tokens: 0,
            budget_tokens: 1_000,
            model: None,
            history,
        };
        UsageReport::new(stored, &config.usage)
    }

    #[test]
    fn level_is_held_until_it_is_cleared() {
        assert_eq!(report(&[850, 750], 750, "").status.level, UsageLevel::Warning);
        assert_eq!(
            report(&[850, 750], 750, "context.usage.clear = 0.76").status.level,
            UsageLevel::Normal
        );
        assert_eq!(report(&[850, 699], 699, "").status.level, UsageLevel::Normal);
    }

    #[test]
    fn cooldown_is_counted_in_answers() {
        let warned = |used: &[u32]| {
            let report = report(used, *used.last().unwrap(), "context.usage.cooldown = 2");
            report.warning_line().is_some()
        };
        let used = [850, 860, 870, 880];
        let warned: Vec<_> = (1..=4).map(|count| warned(&used[..count])).collect();
        assert_eq!(warned, [true, false, false, true]);
    }

    #[test]
    fn messages_after_the_last_answer_count() {
        let report = report(&[100], 900, "");
        assert_eq!((report.records.len(), report.status.percent), (1, 90));
        assert!(report.warning_line().is_some());
    }

    #[test]
    fn trend_is_a_debug_line_after_every_fifth_answer() {
        let lines = |count| report(&vec![100; count], 100, "").debug_lines().len();
        assert_eq!([0, 4, 5, 6, 10].map(lines), [1, 1, 2, 1, 2]);
    }
}
