//! Recording messages, one at a time or as a growing transcript.

use lcp_types::Role;

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::compact::MEMORY_HEADING;
use crate::error::{Error, Result};
use crate::handoff_pack::encode_message;
use crate::model::{Message, Recorded, ReportedUsage, TokenUsage};
use crate::store::NewMessage;

impl SessionContinuityService {
    /// Records a message durably. Returns the resulting token usage.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::NotOpen`] if the conversation is not open in this service,
    /// - [`store::Error::LeaseLost`] if another holder took the lease, and
    /// - [`store::Error::Continued`] if another conversation continues this one.
    ///
    /// In these cases nothing was recorded. After [`store::Error::Io`] the message may or may not
    /// have been recorded. After any of these store errors, the conversation is no longer open in
    /// this service; [`Self::reopen`] reads the current state.
    ///
    /// [`store::Error::LeaseLost`]: crate::store::Error::LeaseLost
    /// [`store::Error::Continued`]: crate::store::Error::Continued
    /// [`store::Error::Io`]: crate::store::Error::Io
    pub fn record_message(&self, conversation: &str, message: Message) -> Result<TokenUsage> {
        self.record_messages(conversation, vec![message])
    }

    /// Records messages, all or none. Returns the resulting token usage.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::record_message`].
    pub fn record_messages(
        &self,
        conversation: &str,
        messages: Vec<Message>,
    ) -> Result<TokenUsage> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        self.record(&mut session, messages)
    }

    /// Records the usage that the provider reported for the newest request. It replaces the counted
    /// sum. Record the model's answer first, because the report includes it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::record_message`].
    pub fn record_reported(
        &self,
        conversation: &str,
        reported: ReportedUsage,
    ) -> Result<TokenUsage> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let before = (self.tracker.usage(conversation), session.usage_log.clone());
        let usage = self.tracker.record_reported(conversation, reported);
        let entry = session.usage_entry(&usage);
        session.usage_log.record_reported(entry);
        if let Err(error) = self.save_state(&mut session, &usage) {
            self.restore_usage(before.0);
            session.usage_log = before.1;
            return Err(error);
        }
        Ok(usage)
    }

    /// Returns the token usage of a conversation, or zeros if it is not open in this service.
    #[must_use]
    pub fn usage(&self, conversation: &str) -> TokenUsage {
        self.tracker.usage(conversation)
    }

    /// Returns the messages of an open conversation, inherited ones first.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`] if the conversation is not open in this service.
    pub fn messages(&self, conversation: &str) -> Result<Vec<Recorded>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(session.messages.clone())
    }

    /// Appends a memory message without showing or counting it. Returns its position.
    pub(super) fn append_memory(&self, session: &mut Session, message: &Message) -> Result<u64> {
        let body = encode_message(message)?;
        let tokens = self.tracker.count(message);
        let bodies = [NewMessage { body, tokens }];
        // If the compaction fails later, the message must not be mistaken for a system prompt of
        // the application.
        let known = session.memories.len();
        session.memories.push(session.messages.len() as u64);
        let usage = self.tracker.usage(&session.record.id);
        let appended = self.append(session, &bodies, &usage);
        let count = appended.inspect_err(|_| session.memories.truncate(known))?;
        let position = count.saturating_sub(1);
        let (epoch, message) = (session.record.epoch, message.clone());
        session.messages.push(Recorded { position, epoch, tokens, message });
        Ok(position)
    }

    pub(super) fn record(
        &self,
        session: &mut Session,
        messages: Vec<Message>,
    ) -> Result<TokenUsage> {
        let id = session.record.id.clone();
        let before = (self.tracker.usage(&id), session.usage_log.clone());
        let mut bodies = Vec::with_capacity(messages.len());
        for message in &messages {
            let body = encode_message(message)?;
            bodies.push(NewMessage { body, tokens: self.tracker.count(message) });
        }
        for (message, body) in messages.iter().zip(&bodies) {
            let usage = self.tracker.record_counted(&id, message.role(), body.tokens);
            let entry = session.usage_entry(&usage);
            session.usage_log.record_message(message.role(), entry);
        }
        let usage = self.tracker.usage(&id);
        let count = match self.append(session, &bodies, &usage) {
            Ok(count) => count,
            Err(error) => {
                self.restore_usage(before.0);
                session.usage_log = before.1;
                return Err(error);
            }
        };
        let first = count.saturating_sub(messages.len() as u64);
        let epoch = session.record.epoch;
        for ((position, message), body) in (first..).zip(messages).zip(bodies) {
            session.messages.push(Recorded { position, epoch, tokens: body.tokens, message });
        }
        Ok(usage)
    }

    /// Restores the usage from before a call whose messages could not be recorded.
    pub(super) fn restore_usage(&self, before: TokenUsage) {
        // The tracker must not count conversations that are no longer open.
        if self.session(&before.conversation_id).is_ok() {
            self.tracker.restore(before);
        }
    }

    /// Stores the token usage and the state of the trigger.
    pub(super) fn save_state(&self, session: &mut Session, usage: &TokenUsage) -> Result<()> {
        self.append(session, &[], usage).map(drop)
    }

    fn append(
        &self,
        session: &mut Session,
        bodies: &[NewMessage],
        usage: &TokenUsage,
    ) -> Result<u64> {
        let status = session.status(usage);
        self.with_lease(session, |store, lease| store.append(lease, bodies, status.as_deref()))
    }
}

const BATCH: usize = 1_000;

impl SessionContinuityService {
    /// Records the new messages of a transcript. Returns the number of messages recorded.
    ///
    /// `messages` is the whole conversation from its beginning. If it is shorter than the recorded
    /// conversation, nothing is recorded.
    ///
    /// A transcript of a conversation that began with a hand-off may begin with the directive,
    /// which is not recorded as a message. The memory of a compaction exists in the store only and
    /// is skipped.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Differs`] if a message differs from the recorded one at the same position,
    /// and the errors of [`Self::record_message`]. Messages are recorded in batches of 1,000. After
    /// an error the first batches may have been recorded; repeat the call to continue after them.
    pub fn append_new_messages(&self, conversation: &str, messages: Vec<Message>) -> Result<u64> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let skipped = usize::from(self.begins_with_directive(&session, &messages)?);
        let mut messages = messages.into_iter().skip(skipped).peekable();
        for recorded in &session.messages {
            let Some(next) = messages.peek() else { return Ok(0) };
            if is_same(&recorded.message, next)? {
                messages.next();
            } else if !is_memory(&recorded.message) {
                let (conversation, position) = (conversation.to_owned(), recorded.position);
                return Err(Error::Differs { conversation, position });
            }
        }
        let mut count = 0;
        while messages.peek().is_some() {
            let batch: Vec<_> = messages.by_ref().take(BATCH).collect();
            count += batch.len() as u64;
            self.record(&mut session, batch)?;
        }
        Ok(count)
    }

    /// Returns whether the first message is the directive that the conversation began with.
    fn begins_with_directive(&self, session: &Session, messages: &[Message]) -> Result<bool> {
        let (Some(origin), Some(first)) = (&session.origin, messages.first()) else {
            return Ok(false);
        };
        let directive = self.generate_continuation_directive(origin)?;
        let told = directive.text.trim();
        Ok(!told.is_empty() && first.text().trim() == told)
    }
}

/// Returns whether two messages are encoded as the same bytes.
fn is_same(recorded: &Message, other: &Message) -> Result<bool> {
    Ok(recorded == other || encode_message(recorded)? == encode_message(other)?)
}

fn is_memory(message: &Message) -> bool {
    message.role() == Role::System && message.text().starts_with(MEMORY_HEADING)
}
