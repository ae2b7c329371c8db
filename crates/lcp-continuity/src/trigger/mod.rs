//! When a session should be handed over (RFC 0007 §4).

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::{HandoffDecision, PendingTask, TokenUsage};

/// When a session should be handed over: parts of its window in percent, compared in whole numbers.
///
/// ```
/// use lcp_continuity::{Thresholds, TokenUsage};
///
/// let usage = TokenUsage { total_tokens: 85_000, ..TokenUsage::default() };
/// let decision = Thresholds::default().decide(&usage, &[], 100_000);
/// assert!(decision.should_handoff);
/// assert_eq!(decision.reason, "Context window utilization exceeded 85% threshold");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// From here on in any case: 85.
    pub handoff_percent: u32,
    /// From here on with a long task in progress: 70.
    pub long_task_percent: u32,
    /// A task is long with more remaining steps than these: 5.
    pub long_task_steps: usize,
    /// From here on a warning, if few turns are left: 75.
    pub warning_percent: u32,
    /// Few turns are these or fewer: 5.
    pub warning_turns: u32,
    /// How far below the lowest threshold a session must begin for a hand-off to be of any use: 10.
    pub margin_percent: u32,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            handoff_percent: 85,
            long_task_percent: 70,
            long_task_steps: 5,
            warning_percent: 75,
            warning_turns: 5,
            margin_percent: 10,
        }
    }
}

/// Thresholds that are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdsError {
    /// A threshold is no part of a window.
    #[error("{name} must be 1 to 100, it is {percent}")]
    OutOfRange {
        /// The field.
        name: &'static str,
        /// What it is.
        percent: u32,
    },
    /// A threshold lies above the one that hands over in any case, and would never matter.
    #[error("{name} must be at most handoff_percent ({handoff_percent}), it is {percent}")]
    AboveHandoff {
        /// The field.
        name: &'static str,
        /// What it is.
        percent: u32,
        /// What it may be at most.
        handoff_percent: u32,
    },
    /// No session could begin far enough below the lowest threshold.
    #[error(
        "margin_percent must be below the lowest threshold ({lowest_percent}), it is {percent}"
    )]
    MarginTooLarge {
        /// What it is.
        percent: u32,
        /// What it must be below.
        lowest_percent: u32,
    },
}

impl Thresholds {
    /// Whether they make sense: percentages of 1 to 100, none above that which hands
    /// over in any case, and the margin below the lowest that hands over.
    /// [`SessionContinuityService`](crate::SessionContinuityService) asks before it
    /// opens a conversation; [`Self::decide`] and the others do not: with other
    /// numbers the comparisons are what they are.
    ///
    /// # Errors
    ///
    /// The first that does not.
    pub fn validate(&self) -> Result<(), ThresholdsError> {
        let handoff_percent = self.handoff_percent;
        for (name, percent) in [
            ("handoff_percent", handoff_percent),
            ("long_task_percent", self.long_task_percent),
            ("warning_percent", self.warning_percent),
        ] {
            if !(1..=100).contains(&percent) {
                return Err(ThresholdsError::OutOfRange { name, percent });
            }
            if percent > handoff_percent {
                return Err(ThresholdsError::AboveHandoff { name, percent, handoff_percent });
            }
        }
        let (percent, lowest_percent) = (self.margin_percent, self.lowest_percent());
        if percent >= lowest_percent {
            return Err(ThresholdsError::MarginTooLarge { percent, lowest_percent });
        }
        Ok(())
    }

    /// Whether a session should be handed over that uses this of a window of
    /// `max_token_count` tokens, with these tasks to do. Never in a window of 0.
    ///
    /// It only tells: asked again, it says the same.
    #[must_use]
    pub fn decide(
        &self,
        usage: &TokenUsage,
        tasks: &[PendingTask],
        max_token_count: u32,
    ) -> HandoffDecision {
        let reaches = |percent| reaches(usage.total_tokens, percent, max_token_count);
        let is_long = |task: &PendingTask| task.is_long(self.long_task_steps);
        let due = if reaches(self.handoff_percent) {
            let percent = self.handoff_percent;
            Some(format!("Context window utilization exceeded {percent}% threshold"))
        } else if reaches(self.long_task_percent) && tasks.iter().any(is_long) {
            Some("Long-running task detected with limited remaining context".to_owned())
        } else {
            None
        };
        HandoffDecision {
            should_handoff: due.is_some(),
            context_utilization: usage.utilization(max_token_count),
            estimated_remaining_turns: usage.estimate_remaining_turns(max_token_count),
            current_usage: usage.clone(),
            reason: due.unwrap_or_else(|| "Sufficient context remaining".to_owned()),
        }
    }

    /// Whether [`Self::decide`] depends on the tasks.
    pub(crate) fn depends_on_tasks(&self, usage: &TokenUsage, max_token_count: u32) -> bool {
        let reaches = |percent| reaches(usage.total_tokens, percent, max_token_count);
        reaches(self.long_task_percent) && !reaches(self.handoff_percent)
    }

    /// Whether the end of the window is near: few turns are left from the warning
    /// threshold on. Where nothing is known of turns, none are left.
    #[must_use]
    pub fn is_warning(&self, usage: &TokenUsage, max_token_count: u32) -> bool {
        reaches(usage.total_tokens, self.warning_percent, max_token_count)
            && usage.estimate_remaining_turns(max_token_count) <= self.warning_turns
    }

    /// Whether handing over to a session that begins with so many tokens is of no use: it would
    /// begin within the margin of the lowest threshold that hands over, or above it.
    #[must_use]
    pub fn is_futile(&self, next_session_tokens: u32, max_token_count: u32) -> bool {
        let from = self.lowest_percent().saturating_sub(self.margin_percent);
        reaches(next_session_tokens, from, max_token_count)
    }

    fn lowest_percent(&self) -> u32 {
        self.handoff_percent.min(self.long_task_percent)
    }
}

/// Whether so many tokens are so many percent of a window, or more.
fn reaches(tokens: u32, percent: u32, max_tokens: u32) -> bool {
    let part = u64::from(percent) * u64::from(max_tokens);
    max_tokens > 0 && u64::from(tokens) * 100 >= part
}

/// Makes events of observations, each at most once an epoch, however usage trembles about a
/// threshold: RFC 0007 §4 has the table of its states and events. One for each conversation.
///
/// It arms in a new epoch only, and only below the margin of the lowest threshold that hands over
/// ([`Thresholds::is_futile`]). The first observation of an epoch should be that of what it begins
/// with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Trigger {
    pub(super) epoch: u32,
    pub(super) state: TriggerState,
    /// Nothing more happens in this epoch.
    closed: bool,
    /// What was used when a preparation failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_at: Option<u32>,
    /// It was said in this epoch that a hand-off is due.
    #[serde(rename = "told_due")]
    reported_due: bool,
    /// It was said in this epoch that a hand-off is futile.
    #[serde(rename = "told_futile")]
    reported_futile: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TriggerState {
    #[default]
    Armed,
    /// It was said that the end of the window is near.
    Warned,
    Preparing,
    /// A hand-off was prepared, or is of no use.
    #[serde(rename = "cooling")]
    Disarmed,
}

/// Who prepares a hand-off that is due (`continuity.auto`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TriggerMode {
    /// Whoever observes.
    #[default]
    Automatic,
    /// The caller, who is told.
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriggerEvent {
    Warn,
    /// Prepare a hand-off, and tell the trigger how it went.
    Prepare,
    Due,
    Futile,
}

impl Trigger {
    /// A trigger that is armed, for a conversation that did not begin with a hand-off.
    pub(crate) fn new(epoch: u32) -> Self {
        Self { epoch, ..Self::default() }
    }

    /// Takes in a decision on a window of `max_tokens`, and returns what is to be done.
    pub(crate) fn observe(
        &mut self,
        thresholds: &Thresholds,
        decision: &HandoffDecision,
        max_tokens: u32,
        mode: TriggerMode,
    ) -> Option<TriggerEvent> {
        let usage = &decision.current_usage;
        if usage.epoch < self.epoch {
            return None;
        }
        if usage.epoch > self.epoch {
            *self = Self { state: TriggerState::Disarmed, ..Self::new(usage.epoch) };
        }
        if self.state == TriggerState::Disarmed && !self.closed {
            if thresholds.is_futile(usage.total_tokens, max_tokens) {
                return self.report_futile();
            }
            self.state = TriggerState::Armed;
        }
        match (self.state, mode) {
            (TriggerState::Armed | TriggerState::Warned, TriggerMode::Automatic)
                if decision.should_handoff =>
            {
                let may_prepare = self.may_prepare(usage.total_tokens, max_tokens);
                may_prepare.then(|| {
                    self.state = TriggerState::Preparing;
                    TriggerEvent::Prepare
                })
            }
            (TriggerState::Armed | TriggerState::Warned, TriggerMode::Manual)
                if decision.should_handoff =>
            {
                self.state = TriggerState::Warned;
                let is_first = !std::mem::replace(&mut self.reported_due, true);
                is_first.then_some(TriggerEvent::Due)
            }
            (TriggerState::Armed, _) if thresholds.is_warning(usage, max_tokens) => {
                self.state = TriggerState::Warned;
                Some(TriggerEvent::Warn)
            }
            _ => None,
        }
    }

    /// A hand-off was prepared and is kept, by whomever: nothing more happens in this epoch.
    pub(crate) fn mark_prepared(&mut self) {
        self.state = TriggerState::Disarmed;
        self.closed = true;
    }

    /// A preparation failed when so many tokens were used, or what was prepared could not be kept.
    /// It is due again once at least 1 % of the window, and a token, has been added to them.
    pub(crate) fn mark_failed(&mut self, tokens: u32) {
        if self.state == TriggerState::Preparing || self.closed {
            self.state = TriggerState::Warned;
            self.closed = false;
            self.failed_at = Some(tokens);
        }
    }

    /// A preparation never ended: its process did. It is due again at once. To be
    /// told by who takes up a conversation, before anything is observed.
    pub(crate) fn mark_interrupted(&mut self) {
        if self.state == TriggerState::Preparing {
            self.state = TriggerState::Warned;
            self.failed_at = None;
        }
    }

    /// A hand-off that was prepared is of no use, and was not kept: nothing more
    /// happens in this epoch. Gives the event, if it is the first in this epoch.
    pub(crate) fn mark_futile(&mut self) -> Option<TriggerEvent> {
        self.mark_prepared();
        self.report_futile()
    }

    fn may_prepare(&self, tokens: u32, max_tokens: u32) -> bool {
        self.failed_at.is_none_or(|failed_at| {
            let grown = tokens.saturating_sub(failed_at);
            grown > 0 && u64::from(grown) * 100 >= u64::from(max_tokens)
        })
    }

    fn report_futile(&mut self) -> Option<TriggerEvent> {
        let is_first = !std::mem::replace(&mut self.reported_futile, true);
        is_first.then_some(TriggerEvent::Futile)
    }
}
