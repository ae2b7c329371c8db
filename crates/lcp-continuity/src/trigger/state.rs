//! The automatic trigger: what happens once, happens once.

use serde::{Deserialize, Serialize};

use super::Thresholds;
use crate::model::HandoffDecision;

/// Makes events of observations: each at most once an epoch, however usage trembles
/// about a threshold. One for each conversation; plain data, kept with it.
///
/// | state | it sees | state then | event |
/// |---|---|---|---|
/// | any | an earlier epoch | same | – |
/// | any | a later epoch | Cooling, open; then as below | – |
/// | Cooling, open | usage that is not near | Armed; then as below | – |
/// | Cooling, open | usage that is near | same | Futile, once |
/// | Cooling, closed | anything | same | – |
/// | Armed | a warning, nothing due | Warned | Warn |
/// | Armed, Warned | due, automatic | Preparing | Prepare |
/// | Armed, Warned | due, manual | Warned | Due, once |
/// | Warned, after a failure | due, automatic, usage grew by less than 1 % of the window | same | – |
/// | Preparing | anything | same | – |
///
/// | state | it is told | state then | event |
/// |---|---|---|---|
/// | any | [`mark_prepared`](Self::mark_prepared) | Cooling, closed | – |
/// | any | [`mark_futile`](Self::mark_futile) | Cooling, closed | Futile, once |
/// | Preparing; Cooling, closed | [`mark_failed`](Self::mark_failed) | Warned, after a failure | – |
/// | Preparing | [`mark_interrupted`](Self::mark_interrupted) | Warned | – |
///
/// *Near* is within the margin of the lowest threshold that hands over, or above
/// ([`Thresholds::is_futile`]). *Once* is once an epoch. So it arms in a new epoch only, and only
/// below the margin. The first observation of an epoch should be that of what it begins with.
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
    Cooling,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
            *self = Self { state: TriggerState::Cooling, ..Self::new(usage.epoch) };
        }
        if self.state == TriggerState::Cooling && !self.closed {
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
        self.state = TriggerState::Cooling;
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
