//! The rules that decide when a session should be handed over (RFC 0007 §4).

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::{HandoffDecision, PendingTask, TokenUsage};

/// The thresholds at which a session should be handed over, in percent of its window. They are
/// compared in integers.
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
    /// The usage from which a hand-off is due in any case. Default: 85.
    pub handoff_percent: u32,
    /// The usage from which a hand-off is due if a task is long. Default: 70.
    pub long_task_percent: u32,
    /// The number of remaining steps above which a task is long. Default: 5.
    pub long_task_steps: usize,
    /// The usage from which a warning is due if few turns are left. Default: 75.
    pub warning_percent: u32,
    /// The largest number of remaining turns that counts as few. Default: 5.
    pub warning_turns: u32,
    /// The distance below the lowest hand-off threshold at which the next session must begin. A
    /// hand-off is futile if the session would begin above that. Default: 10.
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

/// An error in the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThresholdsError {
    /// A threshold is not between 1 and 100 percent.
    #[error("{name} must be from 1 to 100, got {percent}")]
    OutOfRange {
        /// The name of the field.
        name: &'static str,
        /// Its value.
        percent: u32,
    },
    /// A threshold is above `handoff_percent`, so it would never have an effect.
    #[error("{name} must be at most handoff_percent ({handoff_percent}), got {percent}")]
    AboveHandoff {
        /// The name of the field.
        name: &'static str,
        /// Its value.
        percent: u32,
        /// The value of `handoff_percent`, which is the maximum.
        handoff_percent: u32,
    },
    /// The margin is not below the lowest threshold, so no session could begin low enough.
    #[error("margin_percent must be below the lowest threshold ({lowest_percent}), got {percent}")]
    MarginTooLarge {
        /// The value of `margin_percent`.
        percent: u32,
        /// The lowest hand-off threshold.
        lowest_percent: u32,
    },
}

impl Thresholds {
    /// Checks that the thresholds make sense:
    ///
    /// - All percentages are 1 to 100.
    /// - `handoff_percent` is the largest of them.
    /// - The margin is below the lowest hand-off threshold.
    ///
    /// [`SessionContinuityService`](crate::SessionContinuityService) calls this before it opens a
    /// conversation. [`Self::decide`] and the other methods do not; they compare invalid values as
    /// they are.
    ///
    /// # Errors
    ///
    /// Returns an error for the first check that fails.
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

    /// Decides whether a session with this usage and these pending tasks should be handed over,
    /// given a window of `max_token_count` tokens. A window of 0 tokens never requires a hand-off.
    ///
    /// This is a pure function of its arguments.
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

    /// Returns whether the result of [`Self::decide`] depends on the tasks.
    pub(crate) fn depends_on_tasks(&self, usage: &TokenUsage, max_token_count: u32) -> bool {
        let reaches = |percent| reaches(usage.total_tokens, percent, max_token_count);
        reaches(self.long_task_percent) && !reaches(self.handoff_percent)
    }

    /// Returns whether the end of the window is near: the warning threshold is reached and few
    /// turns are left. If the average turn is unknown, no turns are assumed to be left.
    #[must_use]
    pub fn is_warning(&self, usage: &TokenUsage, max_token_count: u32) -> bool {
        reaches(usage.total_tokens, self.warning_percent, max_token_count)
            && usage.estimate_remaining_turns(max_token_count) <= self.warning_turns
    }

    /// Returns whether a hand-off to a session that begins with `next_session_tokens` tokens is
    /// futile. It is if the session would begin within the margin below the lowest hand-off
    /// threshold, or above it.
    #[must_use]
    pub fn is_futile(&self, next_session_tokens: u32, max_token_count: u32) -> bool {
        let from = self.lowest_percent().saturating_sub(self.margin_percent);
        reaches(next_session_tokens, from, max_token_count)
    }

    fn lowest_percent(&self) -> u32 {
        self.handoff_percent.min(self.long_task_percent)
    }
}

/// Returns whether `tokens` is at least `percent` percent of `max_tokens`.
fn reaches(tokens: u32, percent: u32, max_tokens: u32) -> bool {
    let part = u64::from(percent) * u64::from(max_tokens);
    max_tokens > 0 && u64::from(tokens) * 100 >= part
}

/// Turns decisions into events, each at most once per epoch, even if usage fluctuates around a
/// threshold. Each conversation has its own trigger. RFC 0007 §4 has the table of states and
/// events.
///
/// A trigger arms only in a new epoch, and only below the margin of the lowest hand-off threshold
/// ([`Thresholds::is_futile`]). The first observation of an epoch should be its initial usage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Trigger {
    pub(super) epoch: u32,
    pub(super) state: TriggerState,
    /// `true` if no further event can occur in this epoch.
    closed: bool,
    /// The token usage when a preparation failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_at: Option<u32>,
    /// `true` if a due hand-off was reported in this epoch.
    #[serde(rename = "told_due")]
    reported_due: bool,
    /// `true` if a futile hand-off was reported in this epoch.
    #[serde(rename = "told_futile")]
    reported_futile: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TriggerState {
    #[default]
    Armed,
    /// The end of the window was reported to be near.
    Warned,
    Preparing,
    /// A hand-off was prepared, or would be futile.
    #[serde(rename = "cooling")]
    Disarmed,
}

/// The party that prepares a hand-off that is due (`continuity.auto`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TriggerMode {
    /// [`SessionContinuityService::check`](crate::SessionContinuityService::check) prepares it.
    #[default]
    Automatic,
    /// The check reports it, and the caller prepares it.
    Manual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriggerEvent {
    Warn,
    /// Prepare a hand-off and report the result to the trigger.
    Prepare,
    Due,
    Futile,
}

impl Trigger {
    /// Creates an armed trigger, for a conversation that did not begin with a hand-off.
    pub(crate) fn new(epoch: u32) -> Self {
        Self { epoch, ..Self::default() }
    }

    /// Observes a decision for a window of `max_tokens`, and returns the action to take.
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

    /// Records that a hand-off was prepared and stored, automatically or by the caller. No further
    /// event occurs in this epoch.
    pub(crate) fn mark_prepared(&mut self) {
        self.state = TriggerState::Disarmed;
        self.closed = true;
    }

    /// Records that a preparation failed at this token usage, or that its result could not be
    /// stored. It is due again once usage has grown by at least 1 % of the window and one token.
    pub(crate) fn mark_failed(&mut self, tokens: u32) {
        if self.state == TriggerState::Preparing || self.closed {
            self.state = TriggerState::Warned;
            self.closed = false;
            self.failed_at = Some(tokens);
        }
    }

    /// Records that a preparation was interrupted because its process ended. It is due again at
    /// once. Call this when a conversation is taken over, before the first observation.
    pub(crate) fn mark_interrupted(&mut self) {
        if self.state == TriggerState::Preparing {
            self.state = TriggerState::Warned;
            self.failed_at = None;
        }
    }

    /// Records that a prepared hand-off is futile and was not stored. No further event occurs in
    /// this epoch. Returns the event if it is the first of its kind in this epoch.
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
