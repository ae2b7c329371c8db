//! Drives a conversation through the service, message by message.

use std::time::Instant;

use lcp_continuity::compact::Compaction;
use lcp_continuity::store::NewConversation;
use lcp_continuity::{
    CheckOutcome, ContinuationDirective, Error, Message, SessionContinuityService, SessionHandoff,
};
use lcp_types::{BlockContent, Role};

use super::settings::{Mode, Settings};
use super::{failed, input};
use lcp_cli::Result;
use lcp_cli::output::Output;

/// The outcome of a conversation.
pub(super) struct Story {
    pub(super) messages: Vec<Message>,
    /// The indices of each tool call and its result among the messages.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The conversation that each message was recorded in, and its position there.
    pub(super) places: Vec<(String, u64)>,
    /// The tokens of all messages.
    pub(super) tokens: u64,
    pub(super) handed_over: Vec<HandedOver>,
    /// The events other than hand-offs.
    pub(super) marks: Vec<Mark>,
    pub(super) compacted: Vec<Compacted>,
}

/// A hand-off that was resumed.
pub(super) struct HandedOver {
    /// The number of messages of the input that were recorded at that time.
    pub(super) after: usize,
    pub(super) handoff: SessionHandoff,
    /// The pack in the store.
    pub(super) pack: Vec<u8>,
    /// The first text of the next session.
    pub(super) directive: ContinuationDirective,
    /// The id of the conversation that continued.
    pub(super) resumed_as: String,
}

/// An event at a position of the conversation.
pub(super) struct Mark {
    pub(super) after: usize,
    pub(super) kind: MarkKind,
    pub(super) tokens: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MarkKind {
    /// The limit approaches.
    Warning,
    /// A hand-off is due, and the caller must prepare it.
    Due,
    /// A hand-off, or a compaction, would not help.
    Futile,
}

impl MarkKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Due => "due",
            Self::Futile => "futile",
        }
    }
}

/// A compaction.
pub(super) struct Compacted {
    pub(super) after: usize,
    pub(super) compaction: Compaction,
}

/// Records all messages, and performs the hand-offs or compactions that become due.
pub(super) fn run(
    service: &SessionContinuityService,
    settings: &Settings,
    conversation: &NewConversation,
    messages: Vec<Message>,
    output: &Output,
) -> Result<Story> {
    service.open(conversation).map_err(failed)?;
    let pairs = input::pairs(&messages);
    let ends = turn_ends(&messages, &pairs);
    let mut drive = Drive {
        service,
        output,
        id: conversation.id.clone(),
        next: 0,
        futile: false,
        story: Story {
            messages: Vec::new(),
            pairs,
            places: Vec::new(),
            tokens: 0,
            handed_over: Vec::new(),
            marks: Vec::new(),
            compacted: Vec::new(),
        },
        all: messages.len(),
    };
    for (message, is_end) in messages.into_iter().zip(ends) {
        drive.record(message)?;
        match settings.mode {
            _ if !is_end => {}
            Mode::Compact => drive.compact()?,
            Mode::Automatic | Mode::Manual => drive.check()?,
        }
    }
    service.close(&drive.id).map_err(failed)?;
    Ok(drive.story)
}

/// Returns for each message whether a turn ends with it: the message is not a question, and no call
/// is waiting for its result.
fn turn_ends(messages: &[Message], pairs: &[(usize, usize)]) -> Vec<bool> {
    let mut waits = vec![false; messages.len()];
    for (call, result) in pairs {
        waits[*call..*result].fill(true);
    }
    let asks = |message: &Message| match &message.block.content {
        BlockContent::Conversation(turn) => matches!(turn.role, Role::User | Role::System),
        // A file from the user is not a question.
        _ => false,
    };
    messages.iter().zip(waits).map(|(message, waits)| !asks(message) && !waits).collect()
}

struct Drive<'a> {
    service: &'a SessionContinuityService,
    output: &'a Output,
    /// The id of the open conversation.
    id: String,
    /// The position of its next message.
    next: u64,
    /// `true` if the last compaction was futile. The warning is printed only once.
    futile: bool,
    all: usize,
    story: Story,
}

impl Drive<'_> {
    fn record(&mut self, message: Message) -> Result {
        let usage = self.service.record_message(&self.id, message.clone()).map_err(failed)?;
        self.story.tokens += u64::from(usage.last_message_tokens);
        self.story.places.push((self.id.clone(), self.next));
        self.story.messages.push(message);
        self.next += 1;
        Ok(())
    }

    fn check(&mut self) -> Result {
        let start = Instant::now();
        let checked = self.service.check(&self.id).map_err(failed)?;
        let tokens = checked.decision.current_usage.total_tokens;
        match checked.outcome {
            CheckOutcome::Prepared(handoff) => self.resume(*handoff, start)?,
            CheckOutcome::Warned => self.mark(MarkKind::Warning, tokens),
            CheckOutcome::Due => self.mark(MarkKind::Due, tokens),
            CheckOutcome::Futile { next_session_tokens, max_tokens } => {
                self.output.warn(format!(
                    "a hand-off would be futile: the next session would begin with \
                     {next_session_tokens} of {max_tokens} tokens"
                ));
                self.mark(MarkKind::Futile, tokens);
            }
            _ => {}
        }
        Ok(())
    }

    fn resume(&mut self, handoff: SessionHandoff, start: Instant) -> Result {
        let id = &handoff.handoff_id;
        let pack = self.service.store().handoff(id).map_err(failed)?.pack;
        let resumed = self.service.resume_from_handoff(id).map_err(failed)?;
        let (after, metadata) = (self.story.messages.len(), &handoff.metadata);
        self.output.progress(format!(
            "hand-off {} after message {after} of {}: {} -> {} tokens, {} ms",
            self.story.handed_over.len() + 1,
            self.all,
            metadata.tokens_before,
            metadata.tokens_after,
            start.elapsed().as_millis(),
        ));
        self.id.clone_from(&resumed.new_conversation_id);
        self.next = resumed.late_messages.len() as u64;
        self.story.handed_over.push(HandedOver {
            after,
            handoff,
            pack,
            directive: resumed.directive,
            resumed_as: resumed.new_conversation_id,
        });
        Ok(())
    }

    fn compact(&mut self) -> Result {
        let before = self.service.usage(&self.id).total_tokens;
        let compaction = match self.service.compact_if_low(&self.id) {
            Ok(Some(compaction)) => compaction,
            Ok(None) => return Ok(()),
            Err(Error::Compaction(error)) => {
                if !self.futile {
                    self.output.warn(error);
                    self.mark(MarkKind::Futile, before);
                }
                self.futile = true;
                return Ok(());
            }
            Err(error) => return Err(failed(error)),
        };
        self.futile = false;
        // The memory block counts as a message.
        self.next += u64::from(compaction.memory.is_some());
        let after = self.story.messages.len();
        self.output.progress(format!("after message {after} of {}:", self.all));
        for line in compaction.lines() {
            self.output.progress(line);
        }
        self.story.compacted.push(Compacted { after, compaction });
        Ok(())
    }

    fn mark(&mut self, kind: MarkKind, tokens: u32) {
        self.story.marks.push(Mark { after: self.story.messages.len(), kind, tokens });
    }
}

#[cfg(test)]
mod tests {
    use lcp_types::Status;

    use super::*;

    #[test]
    fn turn_ends_when_no_reply_is_pending() {
        let result = |id| Message::tool_result(id, "read", Status::Ok, "text");
        let messages = [
            Message::user("Do it."),
            Message::tool_call("a", "read x"),
            Message::tool_call("b", "read y"),
            result("b"),
            result("a"),
            Message::assistant("Done."),
            Message::tool_call("c", "nobody answers"),
        ];
        let ends = turn_ends(&messages, &input::pairs(&messages));
        assert_eq!(ends, [false, false, false, false, true, true, true]);
    }
}
