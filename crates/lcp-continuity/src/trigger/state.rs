//! The automatic trigger: what happens once, happens once.

use serde::{Deserialize, Serialize};

use super::Thresholds;
use crate::model::{HandoffDecision, PendingTask, TokenUsage};

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
/// ([`Thresholds::is_futile`]). *Once* is once an epoch. So it arms in a new epoch
/// only, and only below the margin. The first observation of an epoch should be
/// that of what it begins with.
///
/// ```
/// use lcp_continuity::{Observation, Thresholds, TokenUsage, Trigger, TriggerEvent, TriggerMode};
///
/// let mut trigger = Trigger::default();
/// let mut see = |total_tokens| {
///     let usage = TokenUsage { total_tokens, ..TokenUsage::default() };
///     let mode = TriggerMode::Automatic;
///     trigger.observe(&Observation::new(&Thresholds::default(), &usage, &[], 1_000, mode))
/// };
/// assert_eq!(see(849), Some(TriggerEvent::Warn));
/// assert_eq!(see(850), Some(TriggerEvent::Prepare));
/// assert_eq!(see(849), None);
/// assert_eq!(see(850), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trigger {
    epoch: u32,
    state: TriggerState,
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

/// Where a [`Trigger`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerState {
    /// It waits.
    #[default]
    Armed,
    /// It was said that the end of the window is near.
    Warned,
    /// A hand-off is being prepared.
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

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerEvent {
    /// Say that the end of the window is near.
    Warn,
    /// Prepare a hand-off, and tell the trigger how it went.
    Prepare,
    /// Say that a hand-off is due.
    Due,
    /// Say that a hand-off is of no use.
    Futile,
}

/// What a [`Trigger`] sees of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The epoch.
    pub epoch: u32,
    /// Tokens that are used.
    pub tokens: u32,
    /// Tokens of the window.
    pub max: u32,
    /// Whether it should be handed over: [`Thresholds::decide`].
    pub decision: bool,
    /// Whether a warning is due: [`Thresholds::is_warning`].
    pub warning: bool,
    /// Whether a session that begins like this is too near to a threshold:
    /// [`Thresholds::is_futile`].
    pub near: bool,
    /// Who prepares a hand-off.
    pub mode: TriggerMode,
}

impl Observation {
    /// What these thresholds say of a conversation.
    #[must_use]
    pub fn new(
        thresholds: &Thresholds,
        usage: &TokenUsage,
        tasks: &[PendingTask],
        max: u32,
        mode: TriggerMode,
    ) -> Self {
        Self::from_decision(thresholds, &thresholds.decide(usage, tasks, max), max, mode)
    }

    /// The same, where the decision is at hand.
    #[must_use]
    pub fn from_decision(
        thresholds: &Thresholds,
        decision: &HandoffDecision,
        max: u32,
        mode: TriggerMode,
    ) -> Self {
        let usage = &decision.current_usage;
        Self {
            epoch: usage.epoch,
            tokens: usage.total_tokens,
            max,
            decision: decision.should_handoff,
            warning: thresholds.is_warning(usage, max),
            near: thresholds.is_futile(usage.total_tokens, max),
            mode,
        }
    }
}

impl Trigger {
    /// One that is armed in this epoch, whatever is used of the window: for
    /// conversations that did not begin with a hand-off, forks for example.
    #[must_use]
    pub fn new(epoch: u32) -> Self {
        Self { epoch, ..Self::default() }
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> TriggerState {
        self.state
    }

    /// The newest epoch that it saw.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Takes in what is seen, and says what is to be done.
    pub fn observe(&mut self, seen: &Observation) -> Option<TriggerEvent> {
        if seen.epoch < self.epoch {
            return None;
        }
        if seen.epoch > self.epoch {
            *self = Self { state: TriggerState::Cooling, ..Self::new(seen.epoch) };
        }
        if self.state == TriggerState::Cooling && !self.closed {
            if seen.near {
                return self.report_futile();
            }
            self.state = TriggerState::Armed;
        }
        match self.state {
            TriggerState::Armed | TriggerState::Warned if seen.decision => self.due(seen),
            TriggerState::Armed if seen.warning => {
                self.state = TriggerState::Warned;
                Some(TriggerEvent::Warn)
            }
            _ => None,
        }
    }

    /// A hand-off was prepared and is kept, by whomever: nothing more happens in
    /// this epoch.
    pub fn mark_prepared(&mut self) {
        self.state = TriggerState::Cooling;
        self.closed = true;
    }

    /// A preparation failed when so many tokens were used, or what was prepared could
    /// not be kept. It is due again once at least 1 % of the window, and a token, has
    /// been added to them.
    pub fn mark_failed(&mut self, tokens: u32) {
        if self.state == TriggerState::Preparing || self.closed {
            self.state = TriggerState::Warned;
            self.closed = false;
            self.failed_at = Some(tokens);
        }
    }

    /// A preparation never ended: its process did. It is due again at once. To be
    /// told by who takes up a conversation, before anything is observed.
    pub fn mark_interrupted(&mut self) {
        if self.state == TriggerState::Preparing {
            self.state = TriggerState::Warned;
            self.failed_at = None;
        }
    }

    /// A hand-off that was prepared is of no use, and was not kept: nothing more
    /// happens in this epoch. Gives the event, if it is the first in this epoch.
    pub fn mark_futile(&mut self) -> Option<TriggerEvent> {
        self.mark_prepared();
        self.report_futile()
    }

    fn due(&mut self, seen: &Observation) -> Option<TriggerEvent> {
        match seen.mode {
            TriggerMode::Automatic if self.may_prepare(seen) => {
                self.state = TriggerState::Preparing;
                Some(TriggerEvent::Prepare)
            }
            TriggerMode::Automatic => None,
            TriggerMode::Manual => {
                self.state = TriggerState::Warned;
                let is_first = !std::mem::replace(&mut self.reported_due, true);
                is_first.then_some(TriggerEvent::Due)
            }
        }
    }

    fn may_prepare(&self, seen: &Observation) -> bool {
        self.failed_at.is_none_or(|failed_at| {
            let grown = seen.tokens.saturating_sub(failed_at);
            grown > 0 && u64::from(grown) * 100 >= u64::from(seen.max)
        })
    }

    fn report_futile(&mut self) -> Option<TriggerEvent> {
        let is_first = !std::mem::replace(&mut self.reported_futile, true);
        is_first.then_some(TriggerEvent::Futile)
    }
}
