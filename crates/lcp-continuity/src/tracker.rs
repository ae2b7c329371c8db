//! What conversations use of their windows, as it is recorded (RFC 0007 §3).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lcp_tokens::TokenEstimator;
use lcp_types::Role;

use crate::model::{Clock, Message, ReportedUsage, SystemClock, TokenUsage, UsageSource};

/// Adds up the tokens of conversations, each within its epoch.
///
/// Any number of threads may record in any number of conversations: nothing is
/// lost. A turn is one message; system turns count as system prompt, all others as
/// history. Sums that exceed a `u32` stay at its end.
///
/// What a provider reports of the newest request replaces the sum ([`Self::record_reported`]):
/// messages that were recorded before are contained in it, the answer too, and those that are
/// recorded later are counted on top. So: record the answer, then the report.
///
/// Some 200 bytes are kept of each conversation, until [`Self::forget`].
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
    /// A tracker that counts with `counter`, and knows no conversation.
    #[must_use]
    pub fn new(counter: Arc<dyn TokenEstimator>) -> Self {
        Self { counter, clock: Arc::new(SystemClock), conversations: Mutex::default() }
    }

    /// This with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The tokens of a message: of its text alone, 0 if it has none.
    #[must_use]
    pub fn count(&self, message: &Message) -> u32 {
        match message.text().as_ref() {
            "" => 0,
            text => self.counter.estimate(text),
        }
    }

    /// Counts a message and adds it. Gives what is used with it.
    pub fn record_message(&self, conversation: &str, message: &Message) -> TokenUsage {
        // Counted before anything is locked: it is what takes time.
        self.record_counted(conversation, message.role(), self.count(message))
    }

    /// Adds a message of this role that has so many tokens. Gives what is used with it.
    pub fn record_counted(&self, conversation: &str, role: Role, tokens: u32) -> TokenUsage {
        self.change(conversation, |accumulator| accumulator.add(role, tokens))
    }

    /// Takes what a provider reports of the newest request in place of the sum: the total is its
    /// input and its output. The system prompt stays what was counted of it, the total at most; the
    /// rest is history. Reports are not added up, and are no messages. Gives what is used.
    pub fn record_reported(&self, conversation: &str, reported: ReportedUsage) -> TokenUsage {
        self.change(conversation, |accumulator| accumulator.report(reported))
    }

    /// What is used; zeros for a conversation that was never seen, with the moment now.
    #[must_use]
    pub fn usage(&self, conversation: &str) -> TokenUsage {
        match self.lock().get(conversation) {
            Some(accumulator) => accumulator.usage.clone(),
            None => self.accumulator(conversation, 0).usage,
        }
    }

    /// The part of the window that is used: [`TokenUsage::utilization`].
    #[must_use]
    pub fn utilization(&self, usage: &TokenUsage, max_context_tokens: u32) -> f32 {
        usage.utilization(max_context_tokens)
    }

    /// How many more turns fit: [`TokenUsage::estimate_remaining_turns`].
    #[must_use]
    pub fn estimate_remaining_turns(&self, usage: &TokenUsage, max_context_tokens: u32) -> u32 {
        usage.estimate_remaining_turns(max_context_tokens)
    }

    /// Begins a new epoch with zeros, as where the window was emptied. Gives the
    /// epoch: 1 for a conversation that was never seen.
    pub fn reset(&self, conversation: &str) -> u32 {
        let mut conversations = self.lock();
        let epoch =
            conversations.get(conversation).map_or(0, |it| it.usage.epoch).saturating_add(1);
        conversations.insert(conversation.to_owned(), self.accumulator(conversation, epoch));
        epoch
    }

    /// Begins this epoch with zeros; changes nothing if the conversation is in this
    /// epoch already, or in a later one.
    pub fn begin(&self, conversation: &str, epoch: u32) {
        let mut conversations = self.lock();
        if conversations.get(conversation).is_none_or(|accumulator| accumulator.usage.epoch < epoch)
        {
            conversations.insert(conversation.to_owned(), self.accumulator(conversation, epoch));
        }
    }

    /// Takes up what was used when a conversation was put down, in place of all that
    /// is known of it.
    ///
    /// The average goes on as exactly as it can: how many of the messages were system turns is not
    /// told, and taken to be one, or more where only more give the same average.
    pub fn restore(&self, usage: TokenUsage) {
        self.lock().insert(usage.conversation_id.clone(), UsageAccumulator::new(usage));
    }

    /// Forgets a conversation; whether it was known.
    pub fn forget(&self, conversation: &str) -> bool {
        self.lock().remove(conversation).is_some()
    }

    /// How many conversations are known.
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

    /// Creates the accumulator of an epoch in which nothing was recorded yet.
    fn accumulator(&self, conversation: &str, epoch: u32) -> UsageAccumulator {
        UsageAccumulator::new(TokenUsage {
            conversation_id: conversation.to_owned(),
            last_updated: self.clock.now(),
            epoch,
            ..TokenUsage::default()
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, UsageAccumulator>> {
        // Whoever panicked did so in a clock: the sums are whole.
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
    /// Tokens of system turns, even if that is more than the total.
    system_tokens: u32,
    /// Messages of the history.
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
        // ⌈history / n⌉ is the average for these n, and for no others.
        _ => most.min((history - 1) / (average - 1)).max(history.div_ceil(average)),
    }
}
