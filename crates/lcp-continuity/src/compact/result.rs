//! What a compaction gives.

use lcp_driver::shares::{ContextBudget, percent};
use lcp_driver::window::WindowError;

use crate::extract::SummaryError;
use crate::model::{AnchorKind, Message, Recorded};

/// A conversation that was compacted: what to send from now on, in this order, and
/// what it no longer holds.
///
/// The window was emptied and filled again: a new epoch begins, in which these
/// messages are the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The system prompts, whole.
    pub system: Vec<Recorded>,
    /// What is remembered of the rest, as a system message that begins
    /// `[Persistent Memory]`; `None` where there is nothing to say.
    pub memory: Option<MemoryMessage>,
    /// The newest messages, whole: all from some message on, and before them the
    /// newest of the user, if that is an earlier one.
    pub recent: Vec<Recorded>,
    /// All other messages, oldest first.
    pub archived: Vec<ArchivedChunk>,
    /// Tokens that the window had: what the messages count, or what the caller said
    /// if that is more.
    pub tokens_before: u32,
    /// Tokens that it has now: what the messages that are shown count, and
    /// [`Self::overhead_tokens`].
    pub tokens_after: u32,
    /// Tokens of the window that are no message's, by what the caller said: tools,
    /// or what a provider counts otherwise. They stay.
    pub overhead_tokens: u32,
    /// Tokens that it may have.
    pub target_tokens: u32,
    /// A budget for the next call, of which nothing is used.
    pub budget: ContextBudget,
    /// What is not as it should be.
    pub warnings: Vec<CompactionWarning>,
    /// The tokens that remain of how many, where the budget was low.
    pub(super) alert: Option<(u32, u32)>,
}

/// What is remembered of messages that are not shown.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryMessage {
    /// The system message.
    pub message: Message,
    /// The tokens of its text, the first line included.
    pub tokens: u32,
}

/// Messages that are no longer shown, all from the first position to the last: they
/// are to be read in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedChunk {
    /// The position of the first.
    pub first: u64,
    /// The position of the last.
    pub last: u64,
    /// How many they are.
    pub messages: u32,
    /// The tokens of their texts.
    pub tokens: u32,
    /// Whether the memory has a summary of them.
    pub is_summarized: bool,
}

/// What is not as it should be after a compaction. Nothing is lost by it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionWarning {
    /// There was no room for an anchor in the memory.
    #[error("no room for the {} {text:?} ({id}) in the memory", .kind.title())]
    AnchorLeftOut {
        /// Its id.
        id: String,
        /// What it is.
        kind: AnchorKind,
        /// Its words.
        text: String,
    },
    /// There was no room for a summary of these messages.
    #[error("no room for a summary of messages {first} to {last}")]
    NotSummarized {
        /// The position of the first.
        first: u64,
        /// The position of the last.
        last: u64,
    },
    /// The summary of these messages was cut.
    #[error("the summary of messages {first} to {last} was cut")]
    SummaryCut {
        /// The position of the first.
        first: u64,
        /// The position of the last.
        last: u64,
    },
    /// The summariser failed for these messages; the built-in took its place.
    #[error("the built-in summary stands in for messages {first} to {last}: {error}")]
    SummarizerFailed {
        /// The position of the first.
        first: u64,
        /// The position of the last.
        last: u64,
        /// How it failed.
        error: SummaryError,
    },
    /// The newest message of the user is too long to be shown.
    #[error("message {position}, the newest of the user, is too long to be shown")]
    UserMessageArchived {
        /// Its position.
        position: u64,
    },
}

/// Why a conversation is not compacted; it is as it was.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionError {
    /// A percentage is none.
    #[error("{name} must be 1 to 100, it is {percent}")]
    OutOfRange {
        /// The field of the options.
        name: &'static str,
        /// What it is.
        percent: u32,
    },
    /// The window leaves nothing for messages.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// What would stay exceeds the target, or is no less than there is. At least the system prompts
    /// stay, the newest message with what belongs to it, and what is no message.
    #[error(
        "compaction is futile: {needed_tokens} of {tokens_before} tokens would stay, the target \
         is {target_tokens}"
    )]
    Futile {
        /// Tokens that would stay.
        needed_tokens: u32,
        /// Tokens that there are.
        tokens_before: u32,
        /// Tokens that there may be.
        target_tokens: u32,
    },
}

impl Compaction {
    /// What to send, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        let memory = self.memory.iter().map(|memory| &memory.message);
        let [system, recent] = [&self.system, &self.recent]
            .map(|messages| messages.iter().map(|recorded| &recorded.message));
        system.chain(memory).chain(recent)
    }

    /// Lines for a log. The first two only where the budget was low.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some((remaining, total)) = self.alert {
            let percent = percent(remaining.into(), total.into());
            lines.push(format!(
                "[Budget] Low budget alert! {remaining} tokens remaining ({percent}%)"
            ));
            lines.push("[Memory] Context threshold reached, compressing...".to_owned());
        }
        let (before, after) = (self.tokens_before, self.tokens_after);
        let chunks = match self.archived.len() {
            1 => "1 chunk".to_owned(),
            count => format!("{count} chunks"),
        };
        lines.push(format!("[Memory] Compressed: {before} → {after} tokens (archived {chunks})"));
        lines.push("[Budget] Compressed and adjusted budget for next call".to_owned());
        lines
    }
}
