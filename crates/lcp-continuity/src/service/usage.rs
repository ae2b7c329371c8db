//! The usage of stored conversations, with its history.

use std::time::Instant;

use lcp_driver::usage::UsageHistory;

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::model::TokenUsage;
use crate::store::Lease;

/// The token usage of a conversation, with its history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConversationUsage {
    /// The current usage.
    pub usage: TokenUsage,
    /// The size of the context window in tokens.
    pub window_tokens: u32,
    /// The tokens of the window that are reserved for the model's output.
    pub output_reserve_tokens: u32,
    /// The budget in tokens: 80 % of the window minus the reserve (RFC 0007 §9).
    pub budget_tokens: u32,
    /// The name of the model, if it is known.
    pub model: Option<String>,
    /// The usage after each answer of the model, and the budget at that time. Only the newest
    /// answers are listed, but sums cover all answers. The provider's report for an answer replaces
    /// the counted tokens.
    pub history: UsageHistory,
}

impl SessionContinuityService {
    /// Returns the usage of a stored conversation. This is a query: it takes no lease and changes
    /// nothing. So it also works while another holder has the conversation open, and after another
    /// conversation continues it.
    ///
    /// # Errors
    ///
    /// Returns the errors of reading the conversation from the store.
    pub fn inspect_usage(&self, conversation: &str) -> Result<ConversationUsage> {
        // While this lock is held, no other call can open the conversation.
        let _opening = lock(&self.opening);
        if let Ok(session) = self.session(conversation) {
            return Ok(self.conversation_usage(&lock(&session)));
        }
        let record = self.store.conversation(conversation)?;
        let no_lease = Lease {
            conversation: record.id,
            holder: String::new(),
            fence: 0,
            epoch: record.epoch,
            until: record.created,
        };
        let usage =
            self.load(&no_lease, Instant::now()).map(|session| self.conversation_usage(&session));
        self.tracker.forget(conversation);
        usage
    }

    fn conversation_usage(&self, session: &Session) -> ConversationUsage {
        let record = &session.record;
        ConversationUsage {
            usage: self.tracker.usage(&record.id),
            window_tokens: record.window_tokens,
            output_reserve_tokens: record.output_reserve_tokens,
            budget_tokens: session.budget_tokens(),
            model: session.model.clone(),
            history: session.usage_log.history(),
        }
    }
}
