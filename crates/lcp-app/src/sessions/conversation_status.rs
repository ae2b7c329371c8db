//! The status of a conversation.

use lcp_continuity::store::ConversationRecord;
use lcp_continuity::{ConversationUsage, HandoffDecision, Thresholds, TokenUsage, UsageSource};
use lcp_driver::{group_thousands, plural};
use serde_json::{Value, json};

use super::usage_report::{UsageReport, usage_json};
use crate::config::Usage;

/// The status of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct ConversationStatus {
    /// Its id.
    pub conversation: String,
    /// `true` if this call created it.
    pub is_new: bool,
    /// The number of messages that this call recorded.
    pub recorded: u64,
    /// The number of its messages.
    pub messages: u64,
    /// Tokens of the model's window.
    pub window: u32,
    /// Tokens of the window that are reserved for output.
    pub output_reserve: u32,
    /// The window and the reserve before this call, if it changed them.
    pub previous_window: Option<(u32, u32)>,
    /// The decision of the triggers.
    pub decision: HandoffDecision,
    /// The decision in one word.
    pub verdict: Verdict,
    /// The usage of the budget, and its history.
    pub budget: UsageReport,
    /// `true` if more than 80 % of the budget is used, so that a compaction is due.
    pub is_compaction_due: bool,
    /// The hand-off that is waiting to be resumed, if there is one.
    pub handoff: Option<String>,
    /// Warnings about the call.
    pub warnings: Vec<String>,
}

/// The decision in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No action is needed.
    None,
    /// Few turns are left.
    Warning,
    /// The conversation should be handed over.
    HandOff,
}

impl Verdict {
    /// Returns the verdict for a decision.
    pub(super) fn new(thresholds: &Thresholds, decision: &HandoffDecision, tokens: u32) -> Self {
        if decision.should_handoff {
            Self::HandOff
        } else if thresholds.is_warning(&decision.current_usage, tokens) {
            Self::Warning
        } else {
            Self::None
        }
    }

    /// Returns the name for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Warning => "warning",
            Self::HandOff => "hand_off",
        }
    }
}

/// Returns a reason in the form that it has within a line: it begins with a lowercase letter.
#[must_use]
pub fn in_line(reason: &str) -> String {
    let mut chars = reason.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

impl ConversationStatus {
    pub(super) fn new(
        record: ConversationRecord,
        decision: HandoffDecision,
        thresholds: &Thresholds,
        budget: UsageReport,
        handoff: Option<String>,
    ) -> Self {
        let (window, output_reserve) = (record.window_tokens, record.output_reserve_tokens);
        Self {
            conversation: record.id,
            is_new: false,
            recorded: 0,
            messages: record.messages,
            window,
            output_reserve,
            previous_window: None,
            is_compaction_due: false,
            warnings: budget.warning_line().map(str::to_owned).into_iter().collect(),
            budget,
            verdict: Verdict::new(thresholds, &decision, window.saturating_sub(output_reserve)),
            decision,
            handoff,
        }
    }

    /// Returns the status of a conversation that does not exist: no window, no messages, no tokens.
    #[must_use]
    pub fn unknown(id: &str) -> Self {
        let usage = TokenUsage { conversation_id: id.to_owned(), ..TokenUsage::default() };
        Self {
            conversation: id.to_owned(),
            is_new: false,
            recorded: 0,
            messages: 0,
            window: 0,
            output_reserve: 0,
            previous_window: None,
            decision: Thresholds::default().decide(&usage, &[], 0),
            verdict: Verdict::None,
            budget: UsageReport::new(
                ConversationUsage { usage, ..ConversationUsage::default() },
                &Usage::default(),
            ),
            is_compaction_due: false,
            handoff: None,
            warnings: Vec::new(),
        }
    }

    /// Returns the tokens of the window that are available for messages.
    #[must_use]
    pub fn effective_window(&self) -> u32 {
        self.window.saturating_sub(self.output_reserve)
    }

    /// Returns the used part of the effective window in percent, rounded down. The thresholds use
    /// the same value.
    #[must_use]
    pub fn percent(&self) -> u64 {
        let used = u64::from(self.decision.current_usage.total_tokens) * 100;
        used.checked_div(self.effective_window().into()).unwrap_or(0)
    }

    /// Returns the reason for the verdict.
    #[must_use]
    pub fn reason(&self) -> String {
        let decision = &self.decision;
        if self.verdict != Verdict::Warning {
            return decision.reason.clone();
        }
        // Without a turn, the average is unknown.
        match decision.current_usage.average_tokens_per_turn {
            0 => format!("{}% of the window left", 100_u64.saturating_sub(self.percent())),
            _ => format!("{} left", plural(decision.estimated_remaining_turns, "turn")),
        }
    }

    /// Returns the status as lines for users.
    #[must_use]
    pub fn to_lines(&self) -> String {
        let Self { decision, messages, recorded, verdict, .. } = self;
        let usage = &decision.current_usage;
        let source = match usage.source {
            UsageSource::Counted => "counted",
            UsageSource::Reported => "reported",
        };
        // Without a turn, the average is unknown.
        let turns = match usage.average_tokens_per_turn {
            0 => String::new(),
            _ => format!(" for {}", plural(decision.estimated_remaining_turns, "turn")),
        };
        let used = format!(
            "{}: {} of {} tokens ({}%, {source}), {} left{turns}\n",
            self.conversation.escape_debug(),
            group_thousands(usage.total_tokens.into()),
            group_thousands(self.effective_window().into()),
            self.percent(),
            group_thousands(self.effective_window().saturating_sub(usage.total_tokens).into()),
        );
        let (messages, recorded) = (group_thousands(*messages), group_thousands(*recorded));
        let (window, compact) = (self.window_line(), self.compaction_line());
        let says = match verdict {
            Verdict::None => "nothing to do",
            Verdict::Warning => "approaching the limit",
            Verdict::HandOff => "hand over",
        };
        let handoff = self.handoff.as_ref().map_or_else(String::new, |handoff| {
            format!("handed over: {} waits to be resumed\n", handoff.escape_debug())
        });
        format!(
            "{used}{window}messages: {messages} ({recorded} new), epoch {}\n{says}: {}\n{compact}\
             {handoff}",
            usage.epoch,
            in_line(&self.reason())
        )
    }

    /// Returns the line about another window than before, if it changed.
    fn window_line(&self) -> String {
        let Some((window, reserve)) = self.previous_window else { return String::new() };
        let changed = |name, now: u32, before: u32| {
            let [now, before] = [now, before].map(|tokens| group_thousands(tokens.into()));
            format!("{name} {now} tokens instead of {before}")
        };
        match (self.window != window, self.output_reserve != reserve) {
            (true, false) => format!("{}\n", changed("window:", self.window, window)),
            (false, _) => format!("{}\n", changed("output reserve:", self.output_reserve, reserve)),
            (true, true) => format!(
                "{}, {}\n",
                changed("window:", self.window, window),
                changed("output reserve", self.output_reserve, reserve)
            ),
        }
    }

    /// Returns the line about a compaction that is due in another window than before.
    fn compaction_line(&self) -> &'static str {
        if self.is_compaction_due && self.previous_window.is_some() {
            "compact: less than 20% of the budget is left\n"
        } else {
            ""
        }
    }

    /// Returns the status as JSON for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let decision = &self.decision;
        let usage = &decision.current_usage;
        json!({
            "schema": "lcp.track.v1",
            "conversation": self.conversation,
            "new": self.is_new,
            "recorded": self.recorded,
            "messages": self.messages,
            "window": self.window,
            "output_reserve": self.output_reserve,
            "previous_window": self.previous_window.map(|(window, output_reserve)| {
                json!({ "window": window, "output_reserve": output_reserve })
            }),
            "epoch": usage.epoch,
            "usage": usage_json(usage),
            "budget": self.budget.budget_json(),
            "utilization_percent": self.percent(),
            "remaining_turns": decision.estimated_remaining_turns,
            "decision": self.verdict.name(),
            "reason": self.reason(),
            "compaction_due": self.is_compaction_due,
            "handoff": self.handoff,
            "warnings": self.warnings,
        })
    }
}
