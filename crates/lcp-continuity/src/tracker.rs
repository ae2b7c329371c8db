//! The token usage of conversations (RFC 0007 §3).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lcp_tokens::TokenEstimator;
use lcp_types::Role;

use crate::model::{Clock, Message, ReportedUsage, SystemClock, TokenUsage, UsageSource};

/// Counts the tokens of conversations, each within its current epoch.
///
/// Any number of threads may record messages of any number of conversations. Each message is one
/// turn. System turns count as system prompt, and all others as history. Sums saturate at
/// `u32::MAX`.
///
/// The usage that a provider reports for the newest request replaces the counted sum
/// ([`Self::record_reported`]). It includes all messages recorded before, and the answer. Messages
/// recorded later are added to it. So record the answer first, then the report.
///
/// The tracker uses about 200 bytes per conversation, until [`Self::forget`] is called.
///
/// ```
/// use std::sync::Arc;
///
/// use lcp_continuity::{ConversationTokenTracker, Message, ReportedUsage};
/// use lcp_tokens::HeuristicEstimator;
///
/// let tracker = ConversationTokenTracker::new(Arc::new(HeuristicEstimator));
/// tracker.record_message("c", &Message::user("Which of these functions is slow?"));
/// tracker.record_message("c", &Message::assistant("The second one."));
/// let reported =
///     ReportedUsage { input_tokens: 900, cached_input_tokens: 0, output_tokens: 100 };
/// assert_eq!(tracker.record_reported("c", reported).total_tokens, 1_000);
/// assert_eq!(tracker.reset("c"), 1);
/// assert_eq!(tracker.usage("c").total_tokens, 0);
/// ```
pub struct ConversationTokenTracker {
    counter: Arc<dyn TokenEstimator>,
    clock: Arc<dyn Clock>,
    conversations: Mutex<HashMap<String, UsageAccumulator>>,
}

impl ConversationTokenTracker {
    /// Creates a tracker that counts with `counter` and tracks no conversation.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenEstimator>) -> Self {
        Self { counter, clock: Arc::new(SystemClock), conversations: Mutex::default() }
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Returns the token count of the text of a message, or 0 if it has no text.
    #[must_use]
    pub fn count(&self, message: &Message) -> u32 {
        match message.text().as_ref() {
            "" => 0,
            text => self.counter.estimate(text),
        }
    }

    /// Counts a message and adds it. Returns the resulting usage.
    pub fn record_message(&self, conversation: &str, message: &Message) -> TokenUsage {
        // Count before locking, because counting takes time.
        self.record_counted(conversation, message.role(), self.count(message))
    }

    /// Adds a message of this role with a known token count. Returns the resulting usage.
    pub fn record_counted(&self, conversation: &str, role: Role, tokens: u32) -> TokenUsage {
        self.change(conversation, |accumulator| accumulator.add(role, tokens))
    }

    /// Replaces the total with the usage that a provider reported for the newest request: input
    /// plus output tokens. Returns the resulting usage.
    ///
    /// The system prompt keeps its counted tokens, limited to the total. The rest is history.
    /// Reports are neither added up nor counted as messages.
    pub fn record_reported(&self, conversation: &str, reported: ReportedUsage) -> TokenUsage {
        self.change(conversation, |accumulator| accumulator.report(reported))
    }

    /// Returns the usage of a conversation. For an unknown conversation all counts are zero and the
    /// time is now.
    #[must_use]
    pub fn usage(&self, conversation: &str) -> TokenUsage {
        match self.lock().get(conversation) {
            Some(accumulator) => accumulator.usage.clone(),
            None => self.accumulator(conversation, 0).usage,
        }
    }

    /// Returns the fraction of the window that is used. See [`TokenUsage::utilization`].
    #[must_use]
    pub fn utilization(&self, usage: &TokenUsage, max_context_tokens: u32) -> f32 {
        usage.utilization(max_context_tokens)
    }

    /// Returns the number of further turns that fit. See [`TokenUsage::estimate_remaining_turns`].
    #[must_use]
    pub fn estimate_remaining_turns(&self, usage: &TokenUsage, max_context_tokens: u32) -> u32 {
        usage.estimate_remaining_turns(max_context_tokens)
    }

    /// Begins a new epoch with zero tokens, after the window was emptied. Returns the epoch, which
    /// is 1 for an unknown conversation.
    pub fn reset(&self, conversation: &str) -> u32 {
        let mut conversations = self.lock();
        let epoch =
            conversations.get(conversation).map_or(0, |it| it.usage.epoch).saturating_add(1);
        conversations.insert(conversation.to_owned(), self.accumulator(conversation, epoch));
        epoch
    }

    /// Begins this epoch with zero tokens. Does nothing if the conversation is already in this
    /// epoch or a later one.
    pub fn begin(&self, conversation: &str, epoch: u32) {
        let mut conversations = self.lock();
        if conversations.get(conversation).is_none_or(|accumulator| accumulator.usage.epoch < epoch)
        {
            conversations.insert(conversation.to_owned(), self.accumulator(conversation, epoch));
        }
    }

    /// Restores a saved usage of a conversation, replacing its current one.
    ///
    /// A saved usage does not contain the number of system turns, so the average is approximate
    /// from then on. The tracker assumes one system turn if there are system tokens, or more if
    /// only more give the saved average.
    pub fn restore(&self, usage: TokenUsage) {
        self.lock().insert(usage.conversation_id.clone(), UsageAccumulator::new(usage));
    }

    /// Forgets a conversation. Returns whether it was known.
    pub fn forget(&self, conversation: &str) -> bool {
        self.lock().remove(conversation).is_some()
    }

    /// Returns the number of known conversations.
    #[must_use]
    pub fn conversations(&self) -> usize {
        self.lock().len()
    }

    fn change(&self, conversation: &str, change: impl FnOnce(&mut UsageAccumulator)) -> TokenUsage {
        let mut conversations = self.lock();
        let accumulator = conversations
            .entry(conversation.to_owned())
            .or_insert_with(|| self.accumulator(conversation, 0));
        change(accumulator);
        accumulator.usage.last_updated = self.clock.now();
        accumulator.usage.clone()
    }

    /// Creates the accumulator of an epoch without messages.
    fn accumulator(&self, conversation: &str, epoch: u32) -> UsageAccumulator {
        UsageAccumulator::new(TokenUsage {
            conversation_id: conversation.to_owned(),
            last_updated: self.clock.now(),
            epoch,
            ..TokenUsage::default()
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UsageAccumulator>> {
        // Only the clock can panic while the lock is held, and the sums are consistent then.
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ConversationTokenTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConversationTokenTracker")
            .field("counter", &self.counter.name())
            .field("conversations", &self.conversations())
            .finish_non_exhaustive()
    }
}

struct UsageAccumulator {
    usage: TokenUsage,
    /// The tokens of system turns, even if they exceed a reported total.
    system_tokens: u32,
    /// The number of history messages.
    turns: u32,
}

impl UsageAccumulator {
    fn new(usage: TokenUsage) -> Self {
        Self { system_tokens: usage.system_prompt_tokens, turns: turns_of(&usage), usage }
    }

    fn add(&mut self, role: Role, tokens: u32) {
        if role == Role::System {
            self.system_tokens = self.system_tokens.saturating_add(tokens);
        } else {
            self.turns = self.turns.saturating_add(1);
        }
        let usage = &mut self.usage;
        usage.total_tokens = usage.total_tokens.saturating_add(tokens);
        usage.last_message_tokens = tokens;
        usage.message_count = usage.message_count.saturating_add(1);
        self.update_derived_counts();
    }

    fn report(&mut self, reported: ReportedUsage) {
        let usage = &mut self.usage;
        usage.total_tokens = reported.input_tokens.saturating_add(reported.output_tokens);
        usage.cached_input_tokens = reported.cached_input_tokens.min(reported.input_tokens);
        usage.output_tokens = reported.output_tokens;
        usage.source = UsageSource::Reported;
        self.update_derived_counts();
    }

    fn update_derived_counts(&mut self) {
        let usage = &mut self.usage;
        usage.system_prompt_tokens = self.system_tokens.min(usage.total_tokens);
        usage.conversation_history_tokens = usage.total_tokens - usage.system_prompt_tokens;
        usage.average_tokens_per_turn = match self.turns {
            0 => 0,
            turns => usage.conversation_history_tokens.div_ceil(turns),
        };
    }
}

/// Returns the largest number of history messages that gives the average.
fn turns_of(usage: &TokenUsage) -> u32 {
    let most = usage.message_count.saturating_sub(u32::from(usage.system_prompt_tokens > 0));
    let (history, average) = (usage.conversation_history_tokens, usage.average_tokens_per_turn);
    match (history, average) {
        (0, _) => most,
        (_, 0) => 0,
        (_, 1) => most.max(history),
        // ⌈history / n⌉ is the average exactly for the n in this range.
        _ => most.min((history - 1) / (average - 1)).max(history.div_ceil(average)),
    }
}
