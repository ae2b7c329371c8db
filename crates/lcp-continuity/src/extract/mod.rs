//! Text rules (RFC 0007 §6): the summary of a conversation, its anchors, its tasks, the
//! state of the session, and what the user wants.
//!
//! The summarizer and the extractors of anchors and tasks are traits, so that a model can
//! do it. Each has a built-in that needs no model: rules that are written down and give
//! the same words every time.
//!
//! This module imports only the plain model (message, anchor, task, state), the pairs of
//! tool calls and results, and the runner of commands: nothing of sessions or stores.

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
pub use intent::user_intent;
pub use state::observed_state;
pub use summary::{CommandSummarizer, ExtractiveSummarizer, summarize_or_builtin};
pub use tasks::ListTaskExtractor;

use crate::command::CommandError;
use crate::model::{AnchorPoint, PendingTask, Recorded};

/// Says what happened, shorter.
pub trait Summarizer: Send + Sync {
    /// A summary of these messages, of at most `request.target_tokens` tokens as
    /// `request.counter` counts.
    ///
    /// Callers count themselves; what is longer is an error of theirs
    /// ([`SummaryError::OverTarget`]).
    ///
    /// # Errors
    ///
    /// If there is none. Callers then use [`ExtractiveSummarizer`], and say so.
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError>;

    /// The name in reports.
    fn name(&self) -> &str;
}

/// What is to be summarised.
#[derive(Clone, Copy)]
pub struct SummaryRequest<'a> {
    /// The messages, oldest first.
    pub messages: &'a [Recorded],
    /// What is known of the time before them: the summary of the hand-off that the
    /// conversation began with.
    pub before: Option<&'a str>,
    /// Tokens that the summary may have.
    pub target_tokens: u32,
    /// How much it goes into detail.
    pub level: CompressionLevel,
    /// Counts the tokens.
    pub counter: &'a dyn TokenEstimator,
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryError {
    /// The program that was to write it failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The answer is empty.
    #[error("{0} gave an empty summary")]
    Empty(String),
    /// The summary is longer than it may be, whatever it says of itself.
    #[error("the summary of {name} has {tokens} tokens, it may have {target}")]
    OverTarget {
        /// What wrote it.
        name: String,
        /// How many it has.
        tokens: u32,
        /// How many it may have.
        target: u32,
    },
    /// Another reason.
    #[error("{0}")]
    Other(String),
}

/// Finds what must survive word for word.
pub trait AnchorExtractor: Send + Sync {
    /// The anchors in these messages of `conversation`, oldest first. Each text must stand in its
    /// message byte for byte: callers drop those that do not, and say so.
    fn anchors(&self, conversation: &str, messages: &[Recorded]) -> Vec<AnchorPoint>;

    /// Whether these messages, oldest first, answer a question that was open before
    /// them: it is then not carried on. Unless this is implemented, none does.
    fn is_answered(&self, question: &AnchorPoint, messages: &[Recorded]) -> bool {
        let _ = (question, messages);
        false
    }
}

/// Finds what remains to be done.
pub trait TaskExtractor: Send + Sync {
    /// The tasks that are not done after these messages, where `known` were not before them: those
    /// of `known` that are still open, changed where the messages say so, and new ones.
    fn pending_tasks(&self, known: &[PendingTask], messages: &[Recorded]) -> Vec<PendingTask>;
}

#[cfg(test)]
mod tests;
