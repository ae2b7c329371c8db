//! Compaction within a session (RFC 0007 §9): the newest messages stay in the window, and the
//! others are replaced by their anchors and a short summary.

mod memory;
mod selection;

use lcp_driver::shares::{ContextBudget, Shares, percent};
use lcp_driver::window::{ContextWindow, WindowError};
use lcp_tokens::TokenEstimator;

use crate::extract::{Summarizer, SummaryError};
use crate::model::{AnchorKind, AnchorPoint, Message, Recorded};

pub use memory::MEMORY_HEADING;
pub(crate) use memory::begins_like_memory;

/// Options for compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionOptions {
    /// The share of a budget, in percent, below which the remaining tokens count as low. Default:
    /// 20.
    pub remaining_percent: u32,
    /// The share of the model's window, in percent, that a compacted conversation may use. Default:
    /// 50.
    pub target_percent: u32,
    /// The share of that target, in percent, that the memory may use. Default: 20.
    pub memory_percent: u32,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self { remaining_percent: 20, target_percent: 50, memory_percent: 20 }
    }
}

impl CompactionOptions {
    /// Returns whether less than [`Self::remaining_percent`] of a budget of `total` tokens remains
    /// when `used` tokens are used. A budget of 0 is never low.
    ///
    /// ```
    /// use lcp_continuity::compact::CompactionOptions;
    ///
    /// let options = CompactionOptions::default();
    /// assert!(options.is_low(5_300, 6_400)); // 17 % remain
    /// assert!(!options.is_low(5_120, 6_400)); // 20 %
    /// ```
    #[must_use]
    pub fn is_low(&self, used: u32, total: u32) -> bool {
        let remaining = u64::from(total.saturating_sub(used));
        remaining * 100 < u64::from(self.remaining_percent) * u64::from(total)
    }

    /// Returns the number of tokens that a compacted conversation may have in this window:
    /// [`Self::target_percent`] of the whole window, rounded down, limited to the available tokens.
    ///
    /// # Errors
    ///
    /// Returns [`CompactionError::Window`] if no tokens are available.
    pub fn target_tokens(&self, window: &ContextWindow) -> Result<u32, CompactionError> {
        Ok(percent_of(window.tokens, self.target_percent).min(window.available()?))
    }

    fn validate(&self) -> Result<(), CompactionError> {
        for (name, percent) in [
            ("remaining_percent", self.remaining_percent),
            ("target_percent", self.target_percent),
            ("memory_percent", self.memory_percent),
        ] {
            if !(1..=100).contains(&percent) {
                return Err(CompactionError::OutOfRange { name, percent });
            }
        }
        Ok(())
    }
}

/// A conversation to compact, and how to compact it.
#[derive(Clone, Copy)]
pub struct CompactionRequest<'a> {
    /// The messages in the window, oldest first: all recorded messages, or the result of an earlier
    /// compaction and the messages since then.
    pub messages: &'a [Recorded],
    /// The position of the memory message of an earlier compaction, if there is one. It is merged
    /// into the new memory. Any other system message that begins like a memory is treated as a
    /// system prompt.
    pub memory: Option<u64>,
    /// The context window of the model, with its reserves.
    pub window: ContextWindow,
    /// The number of tokens used, as counted or as reported by the provider. Any excess over the
    /// count of the messages is overhead and stays in the window.
    pub used_tokens: u32,
    /// The anchors that must survive verbatim. Superseded ones are ignored.
    pub anchors: &'a [AnchorPoint],
    /// The summarizer of archived messages.
    pub summarizer: &'a dyn Summarizer,
    /// The token estimator. The token counts in `messages` are not used.
    pub counter: &'a dyn TokenEstimator,
    /// The sections of the budget for the next call.
    pub shares: &'a Shares,
    /// The options.
    pub options: CompactionOptions,
}

/// Compacts a conversation regardless of how full its window is. Use [`CompactionOptions::is_low`]
/// to decide when to compact.
///
/// Within the target, space is assigned in this order:
///
/// 1. the system prompts in full, and the newest message together with its tool call or results;
/// 2. the newest message of the user, if it fits;
/// 3. the memory, up to its share of the target;
/// 4. earlier messages, from the newest backwards as long as they fit.
///
/// The memory contains the anchors that the shown messages do not contain (binding ones first, then
/// by importance), followed by a summary of each chunk of archived messages.
///
/// # Errors
///
/// Returns [`CompactionError::Futile`] if the messages that must stay exceed the target, or if the
/// result would not be shorter. Returns other errors if the options are invalid or the window has
/// no available tokens.
pub fn compact(request: &CompactionRequest<'_>) -> Result<Compaction, CompactionError> {
    request.options.validate()?;
    let target = request.options.target_tokens(&request.window)?;
    let available = request.window.available()?;

    let work = selection::CountedMessages::new(request.messages, request.memory, request.counter);
    let counted = work.total_tokens();
    let tokens_before = counted.max(request.used_tokens);
    let overhead = tokens_before - counted;
    let futile = |needed_tokens| CompactionError::Futile {
        needed_tokens,
        tokens_before,
        target_tokens: target,
    };

    let least = work.minimum_tokens().saturating_add(overhead);
    let room = target.checked_sub(least).ok_or_else(|| futile(least))?;
    let memory_max = percent_of(target, request.options.memory_percent);
    let mut selected = work.select(room, memory_max);
    let mut warnings: Vec<_> = selected.warning.take().into_iter().collect();

    let mut archived = selection::archive(&work, &selected, target / CHUNKS_PER_TARGET);
    let memory_cap = memory_max.min(selected.room);
    let shown: Vec<_> = selected.texts(&work).collect();
    let is_shown = |anchor: &AnchorPoint| shown.iter().any(|text| text.contains(&anchor.text));
    let anchors = request.anchors.iter().filter(|anchor| anchor.is_live() && !is_shown(anchor));
    let memory =
        memory::write(request, anchors.collect(), &mut archived, memory_cap, &mut warnings);

    let memory_tokens = memory.as_ref().map_or(0, |memory| memory.tokens);
    let tokens_after = target - selected.room + memory_tokens;
    if tokens_after >= tokens_before {
        return Err(futile(tokens_after));
    }
    let remaining = available.saturating_sub(request.used_tokens);
    let is_low = request.options.is_low(request.used_tokens, available);
    let (system, recent) = selected.recorded(&work);
    Ok(Compaction {
        system,
        memory,
        recent,
        archived: archived.into_iter().map(|archived| archived.report).collect(),
        tokens_before,
        tokens_after,
        overhead_tokens: overhead,
        target_tokens: target,
        budget: request.shares.divide(available),
        warnings,
        alert: is_low.then_some((remaining, available)),
    })
}

/// A chunk has at most `1 / CHUNKS_PER_TARGET` of the target, so that its summary stays specific.
const CHUNKS_PER_TARGET: u32 = 4;

fn percent_of(tokens: u32, percent: u32) -> u32 {
    let part = u64::from(tokens) * u64::from(percent) / 100;
    u32::try_from(part).unwrap_or(u32::MAX)
}

/// A compacted conversation: the messages to send from now on, and the messages that were archived.
///
/// The window was emptied and refilled, so a new epoch begins with these messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Compaction {
    /// The system prompts in full.
    pub system: Vec<Recorded>,
    /// The memory: a system message that begins with `[Persistent Memory]`. `None` if it would be
    /// empty.
    pub memory: Option<MemoryMessage>,
    /// The newest messages in full: all from some message on, preceded by the newest message of the
    /// user if that is an earlier one.
    pub recent: Vec<Recorded>,
    /// All other messages, oldest first.
    pub archived: Vec<ArchivedChunk>,
    /// The number of tokens in the window before compaction: the counted tokens of the messages or
    /// the number given by the caller, whichever is larger.
    pub tokens_before: u32,
    /// The number of tokens in the window after compaction: the shown messages and
    /// [`Self::overhead_tokens`].
    pub tokens_after: u32,
    /// The tokens that belong to no message, such as tool definitions, or the difference between
    /// the provider's count and ours. They stay in the window.
    pub overhead_tokens: u32,
    /// The target in tokens.
    pub target_tokens: u32,
    /// An unused budget for the next call.
    pub budget: ContextBudget,
    /// Warnings.
    pub warnings: Vec<CompactionWarning>,
    /// The remaining and total tokens, if the budget was low.
    pub(super) alert: Option<(u32, u32)>,
}

/// The memory of messages that are no longer shown.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryMessage {
    /// The system message.
    pub message: Message,
    /// The token count of its text, including the heading.
    pub tokens: u32,
}

/// A chunk of messages that are no longer shown: all messages between two positions. They can still
/// be read in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedChunk {
    /// The position of the first message.
    pub first: u64,
    /// The position of the last message.
    pub last: u64,
    /// The number of messages.
    pub messages: u32,
    /// The token count of their texts.
    pub tokens: u32,
    /// `true` if the memory contains a summary of them.
    pub is_summarized: bool,
}

/// A warning about a compaction. The messages are still in the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionWarning {
    /// The memory had no room for an anchor.
    #[error("the memory has no room for the {} {text:?} ({id})", .kind.title())]
    AnchorLeftOut {
        /// The id of the anchor.
        id: String,
        /// The kind of the anchor.
        kind: AnchorKind,
        /// The text of the anchor.
        text: String,
    },
    /// The memory had no room for a summary of these messages.
    #[error("the memory has no room for a summary of {}", format_range(*.first, *.last))]
    NotSummarized {
        /// The position of the first message.
        first: u64,
        /// The position of the last message.
        last: u64,
    },
    /// The summary of these messages was truncated.
    #[error("the summary of {} was truncated", format_range(*.first, *.last))]
    SummaryCut {
        /// The position of the first message.
        first: u64,
        /// The position of the last message.
        last: u64,
    },
    /// The summarizer failed for these messages, and the built-in summarizer was used instead.
    #[error("used the built-in summary for {}: {error}", format_range(*.first, *.last))]
    SummarizerFailed {
        /// The position of the first message.
        first: u64,
        /// The position of the last message.
        last: u64,
        /// The error.
        error: SummaryError,
    },
    /// The newest message of the user is too long to be shown.
    #[error("message {position}, the newest of the user, is too long and was archived")]
    UserMessageArchived {
        /// The position of the message.
        position: u64,
    },
}

/// Formats the positions of one or more messages.
fn format_range(first: u64, last: u64) -> String {
    if first == last { format!("message {first}") } else { format!("messages {first} to {last}") }
}

/// An error of a compaction. The conversation is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionError {
    /// A percentage is not between 1 and 100.
    #[error("{name} must be from 1 to 100, got {percent}")]
    OutOfRange {
        /// The field of the options.
        name: &'static str,
        /// Its value.
        percent: u32,
    },
    /// The window has no tokens available for messages.
    #[error(transparent)]
    Window(#[from] WindowError),
    /// The remaining tokens would exceed the target, or would not be fewer than before. The system
    /// prompts, the newest message with its tool call or results, and the overhead always remain.
    #[error(
        "compaction is futile: {needed_tokens} of {tokens_before} tokens would remain, but the \
         target is {target_tokens}"
    )]
    Futile {
        /// The tokens that would remain.
        needed_tokens: u32,
        /// The tokens before compaction.
        tokens_before: u32,
        /// The target in tokens.
        target_tokens: u32,
    },
}

impl Compaction {
    /// Returns the messages to send, in order.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        let memory = self.memory.iter().map(|memory| &memory.message);
        let [system, recent] = [&self.system, &self.recent]
            .map(|messages| messages.iter().map(|recorded| &recorded.message));
        system.chain(memory).chain(recent)
    }

    /// Returns lines for a log. The first two are present only if the budget was low.
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
