//! Where words come from (RFC 0007 §6): what happened, what must not be lost, what
//! remains to be done.
//!
//! Each is a trait, so that a model can do it, and each has a built-in that needs
//! none: rules that are written down, the same words every time.

mod anchors;
mod calls;
mod command;
mod intent;
mod machine;
mod normal;
mod replies;
mod sentences;
mod state;
mod summary;
mod tasks;
mod turns;

use lcp_driver::segments::CompressionLevel;
use lcp_tokens::TokenEstimator;

pub use anchors::PhraseAnchors;
pub use command::{CommandFilter, CommandOptions, CommandSummarizer};
pub use intent::user_intent;
pub use state::observed_state;
pub use summary::{ExtractiveSummarizer, summarize_or_builtin};
pub use tasks::ListedTasks;

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
    /// The program could not be started.
    #[error("{program:?} cannot be run: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// In the words of the system.
        reason: String,
    },
    /// The program took too long, and was stopped.
    #[error("{program:?} did not answer within {seconds} s and was stopped")]
    TimedOut {
        /// The program.
        program: String,
        /// How long it had.
        seconds: u64,
    },
    /// The program failed.
    #[error("{program:?} failed ({status}){}", said(.stderr))]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it said to standard error.
        stderr: String,
    },
    /// The program wrote more than any summary has, and was stopped.
    #[error("{program:?} wrote more than {max} bytes and was stopped")]
    Flood {
        /// The program.
        program: String,
        /// Bytes that it might write.
        max: usize,
    },
    /// The answer is not UTF-8.
    #[error("the answer of {program:?} is not UTF-8 (byte {at})")]
    NotUtf8 {
        /// The program.
        program: String,
        /// The offset of the first bad byte.
        at: usize,
    },
    /// The answer is empty.
    #[error("{name} gave an empty summary")]
    Empty {
        /// What was to write it.
        name: String,
    },
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
    /// The anchors in these messages of `conversation`, oldest first. Each text must
    /// stand in its message byte for byte: callers drop those that do not, and say
    /// so.
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
    /// The tasks that are not done after these messages, where `known` were not
    /// before them: those of `known` that are still open, changed where the
    /// messages say so, and new ones.
    fn pending_tasks(&self, known: &[PendingTask], messages: &[Recorded]) -> Vec<PendingTask>;
}

/// The end of a line on a failure: what was said, if anything was.
fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}
