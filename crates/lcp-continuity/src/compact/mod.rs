//! Compaction within a session (RFC 0007 §9): the newest messages stay, of the
//! others what must not be lost and a short summary.

mod memory;
mod selection;

use lcp_driver::shares::{ContextBudget, Shares, percent};
use lcp_driver::window::{ContextWindow, WindowError};
use lcp_tokens::TokenEstimator;

use crate::extract::{Summarizer, SummaryError};
use crate::model::{AnchorKind, AnchorPoint, Message, Recorded};

pub use memory::MEMORY_HEADING;
pub(crate) use memory::begins_like_memory;

/// When a conversation is compacted, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionOptions {
    /// A budget is low with less than this remaining: 20 %.
    pub remaining_percent: u32,
    /// What a compacted conversation may have of the model's window: 50 %.
    pub target_percent: u32,
    /// What the memory may have of that: 20 %.
    pub memory_percent: u32,
}

impl Default for CompactionOptions {
    fn default() -> Self {
        Self { remaining_percent: 20, target_percent: 50, memory_percent: 20 }
    }
}

impl CompactionOptions {
    /// Whether less than [`Self::remaining_percent`] of a budget of `total` tokens
    /// remains where so many are used. One of 0 is never low.
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

    /// Tokens that a compacted conversation may have in this window: its part of
    /// all of it, rounded down, and no more than is available.
    ///
    /// # Errors
    ///
    /// If nothing is available.
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

/// What is to be compacted.
#[derive(Clone, Copy)]
pub struct CompactionRequest<'a> {
    /// The messages in the window, oldest first: all that were recorded, or what an
    /// earlier compaction left of them and what followed.
    pub messages: &'a [Recorded],
    /// The position of the memory of an earlier compaction, if one is among the
    /// messages: it is made part of the new one. A system message that only begins
    /// like one is a prompt like any other.
    pub memory: Option<u64>,
    /// The model's window, and what is taken off it.
    pub window: ContextWindow,
    /// Tokens that are used of it, counted or as the provider reports. What they
    /// exceed the messages by stays in the window.
    pub used_tokens: u32,
    /// What must survive word for word; those that were superseded are left out.
    pub anchors: &'a [AnchorPoint],
    /// Summarises what is archived.
    pub summarizer: &'a dyn Summarizer,
    /// Counts the tokens; those that the messages were recorded with are not used.
    pub counter: &'a dyn TokenEstimator,
    /// The sections of the budget for the next call.
    pub shares: &'a Shares,
    /// To what it is compacted.
    pub options: CompactionOptions,
}

/// Compacts a conversation, whether its budget is low or not: [`CompactionOptions::is_low`]
/// tells when to.
///
/// In the order of precedence, within the target:
///
/// 1. the system prompts, whole, and the newest message with what belongs to it: a
///    call and its results are never separated;
/// 2. the newest message of the user, if it fits;
/// 3. the memory, of at most its part of the target;
/// 4. the messages before the newest, as far back as they fit.
///
/// The memory has the anchors that do not stand in what is shown, those that bind
/// first, then by importance, and then a summary of each chunk of archived messages.
///
/// # Errors
///
/// [`CompactionError::Futile`] if what must stay exceeds the target or the result
/// would not be shorter; and where the options or the window are none.
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

/// The least number of chunks as large as the target: their summaries must say something.
const CHUNKS_PER_TARGET: u32 = 4;

fn percent_of(tokens: u32, percent: u32) -> u32 {
    let part = u64::from(tokens) * u64::from(percent) / 100;
    u32::try_from(part).unwrap_or(u32::MAX)
}

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
