//! Rules that extract information from text (RFC 0007 §6): a summary of the conversation, anchors,
//! tasks, the session state, and the user's intent.
//!
//! The summarizer and the extractors of anchors and tasks are traits, so that a model can implement
//! them. Each has a built-in implementation that needs no model: fixed rules, which always give the
//! same result.
//!
//! This module depends only on the data types (messages, anchors, tasks, state), the pairing of
//! tool calls and results, and the command runner. It does not depend on sessions or stores.

mod agreement;
mod anchors;
mod intent;
mod output_detection;
mod sentences;
mod state;
mod summary;
mod tasks;
mod tokenize;
mod tool_calls;

use lcp_driver::segments::CompressionLevel;
use lcp_tokens::TokenEstimator;

pub use anchors::RuleAnchorExtractor;
pub use intent::{is_request, user_intent};
pub use state::observed_state;
pub use summary::{CommandSummarizer, ExtractiveSummarizer, summarize_or_builtin};
pub use tasks::ListTaskExtractor;

use crate::command::CommandError;
use crate::model::{AnchorPoint, PendingTask, Recorded};

/// Summarizes a conversation.
pub trait Summarizer: Send + Sync {
    /// Returns a summary of these messages with at most `request.target_tokens` tokens, as counted
    /// by `request.counter`.
    ///
    /// Callers count the tokens again, and treat a longer summary as an error
    /// ([`SummaryError::OverTarget`]).
    ///
    /// # Errors
    ///
    /// Returns an error if there is no summary. Callers then use [`ExtractiveSummarizer`] and
    /// report the error.
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError>;

    /// Returns the name for reports.
    fn name(&self) -> &str;
}

/// A request for a summary.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// The messages, oldest first.
    pub messages: &'a [Recorded],
    /// The summary of the time before these messages, from the hand-off that the conversation began
    /// with.
    pub before: Option<&'a str>,
    /// The token budget of the summary.
    pub target_tokens: u32,
    /// The level of detail.
    pub level: CompressionLevel,
    /// The token estimator.
    pub counter: &'a dyn TokenEstimator,
}

/// An error of a summarizer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The external program failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The summary is empty.
    #[error("{0} returned an empty summary")]
    Empty(String),
    /// The summary exceeds the token budget.
    #[error("the summary of {name} has {tokens} tokens, but the limit is {target}")]
    OverTarget {
        /// The name of the summarizer.
        name: String,
        /// The token count of the summary.
        tokens: u32,
        /// The token budget.
        target: u32,
    },
    /// Another reason.
    #[error("{0}")]
    Other(String),
}

/// Finds anchors, which must survive verbatim.
pub trait AnchorExtractor: Send + Sync {
    /// Returns the anchors in these messages of `conversation`, oldest first. Each text must occur
    /// in its message byte for byte. Callers drop anchors that do not, and report it.
    fn anchors(&self, conversation: &str, messages: &[Recorded]) -> Vec<AnchorPoint>;

    /// Returns whether these messages, oldest first, answer a question that was open before them.
    /// An answered question is not carried on. The default is `false`.
    fn is_answered(&self, question: &AnchorPoint, messages: &[Recorded]) -> bool {
        let _ = (question, messages);
        false
    }
}

/// Finds pending tasks.
pub trait TaskExtractor: Send + Sync {
    /// Returns the pending tasks after these messages, oldest first. `known` are the tasks that
    /// were pending before them. The result contains the known tasks that are still pending,
    /// updated from the messages, and new ones.
    fn pending_tasks(&self, known: &[PendingTask], messages: &[Recorded]) -> Vec<PendingTask>;
}

#[cfg(test)]
mod tests;
