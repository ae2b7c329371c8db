//! Messages are recorded: one by one, or a transcript that grows, from where it was left.

use std::time::Instant;

use lcp_types::Role;

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::compact::MEMORY_HEADING;
use crate::error::{Error, Result};
use crate::handoff_pack::encode_message;
use crate::model::{Message, Recorded, ReportedUsage, TokenUsage};
use crate::store::{self, Lease, NewMessage};

impl SessionContinuityService {
    /// Records a message, durably, and gives what the conversation then uses.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`]; [`store::Error::LeaseLost`] if another took the conversation, which is
    /// then no longer open here, and [`store::Error::Continued`] if it goes on as another. Nothing
    /// was recorded then, but where the store says [`store::Error::Io`] nobody knows: the
    /// conversation is no longer open here, and [`Self::reopen`] reads what there is.
    pub fn record_message(&self, conversation: &str, message: Message) -> Result<TokenUsage> {
        self.record_messages(conversation, vec![message])
    }

    /// Records messages, all or none, and gives what the conversation then uses.
    ///
    /// # Errors
    ///
    /// As [`Self::record_message`].
    pub fn record_messages(
        &self,
        conversation: &str,
        messages: Vec<Message>,
    ) -> Result<TokenUsage> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        self.record(&mut session, messages)
    }

    /// Records what the provider reported of the newest request, in place of the
    /// sum of what was counted. Record the answer first: the report contains it.
    ///
    /// # Errors
    ///
    /// As [`Self::record_message`].
    pub fn record_reported(
        &self,
        conversation: &str,
        reported: ReportedUsage,
    ) -> Result<TokenUsage> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let before = self.tracker.usage(conversation);
        let usage = self.tracker.record_reported(conversation, reported);
        self.save_state(&mut session, &usage).inspect_err(|_| self.restore_usage(before))?;
        Ok(usage)
    }

    /// What a conversation uses of its window; zeros for one that is not open here.
    #[must_use]
    pub fn usage(&self, conversation: &str) -> TokenUsage {
        self.tracker.usage(conversation)
    }

    /// The messages of a conversation that is open here, inherited ones first.
    ///
    /// # Errors
    ///
    /// [`Error::NotOpen`].
    pub fn messages(&self, conversation: &str) -> Result<Vec<Recorded>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(session.messages.clone())
    }

    /// Appends a memory, which nothing shows yet, and counts it nowhere. Gives its place.
    pub(super) fn append_memory(&self, session: &mut Session, message: &Message) -> Result<u64> {
        let body = encode_message(message)?;
        let tokens = self.tracker.count(message);
        let bodies = [NewMessage { body, tokens }];
        // Should nothing else come of it, it must not pass for the application's.
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
        let before = self.tracker.usage(&id);
        let mut bodies = Vec::with_capacity(messages.len());
        for message in &messages {
            let body = encode_message(message)?;
            bodies.push(NewMessage { body, tokens: self.tracker.count(message) });
        }
        for (message, body) in messages.iter().zip(&bodies) {
            self.tracker.record_counted(&id, message.role(), body.tokens);
        }
        let usage = self.tracker.usage(&id);
        let appended = self.append(session, &bodies, &usage);
        let count = appended.inspect_err(|_| self.restore_usage(before))?;
        let first = count.saturating_sub(messages.len() as u64);
        let epoch = session.record.epoch;
        for ((position, message), body) in (first..).zip(messages).zip(bodies) {
            session.messages.push(Recorded { position, epoch, tokens: body.tokens, message });
        }
        Ok(usage)
    }

    /// What was counted is not recorded after all.
    pub(super) fn restore_usage(&self, before: TokenUsage) {
        // Of a conversation that is no longer open here, nothing is counted.
        if self.session(&before.conversation_id).is_ok() {
            self.tracker.restore(before);
        }
    }

    /// Keeps what is used, and the trigger.
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

    /// Writes with the lease of a session, prolonged in time, and renewed where it ran out.
    pub(super) fn with_lease<T>(
        &self,
        session: &mut Session,
        mut write: impl FnMut(&dyn store::Store, &Lease) -> store::Result<T>,
    ) -> Result<T> {
        if session.leased.elapsed() > self.config.lease / 3 {
            match self.renew_lease(session) {
                // The write says the same, or that the conversation goes on as another.
                Err(store::Error::LeaseLost(_)) => {}
                prolonged => prolonged.map_err(|error| self.forget_if_lost(session, error))?,
            }
        }
        let written = match write(&*self.store, &session.lease) {
            Err(store::Error::LeaseLost(_)) => {
                self.renew_lease(session).and_then(|()| write(&*self.store, &session.lease))
            }
            written => written,
        };
        written.map_err(|error| self.forget_if_lost(session, error))
    }

    fn renew_lease(&self, session: &mut Session) -> store::Result<()> {
        let leased = Instant::now();
        session.lease = self.store.renew(&session.lease, self.config.lease)?;
        session.leased = leased;
        Ok(())
    }

    /// What another writes to is not open here any longer; nor is what nobody knows
    /// whether it was written: to take it up reads what there is.
    fn forget_if_lost(&self, session: &Session, error: store::Error) -> Error {
        use store::Error as Lost;
        if matches!(error, Lost::LeaseLost(_) | Lost::Continued { .. } | Lost::Io(_)) {
            self.forget(&session.record.id, session.lease.fence);
        }
        error.into()
    }
}

const BATCH: usize = 1_000;

impl SessionContinuityService {
    /// Records what `messages`, a conversation from its beginning, has beyond what is recorded of
    /// it, and gives the number of messages recorded. Fewer than there are record nothing.
    ///
    /// What began with a hand-off may begin with its directive here too: that is no
    /// message. The memory of a compaction stands in the store alone, and is passed over.
    ///
    /// # Errors
    ///
    /// [`Error::Differs`] where one is not what was recorded in its place, and those of
    /// [`Self::record_message`]; of more than 1,000 the first thousands may be recorded
    /// then, and the same call goes on behind them.
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

    /// Whether the first message is the directive that the conversation began with.
    fn begins_with_directive(&self, session: &Session, messages: &[Message]) -> Result<bool> {
        let (Some(origin), Some(first)) = (&session.origin, messages.first()) else {
            return Ok(false);
        };
        let directive = self.generate_continuation_directive(origin)?;
        let told = directive.text.trim();
        Ok(!told.is_empty() && first.text().trim() == told)
    }
}

/// Whether two messages are kept as the same bytes.
fn is_same(recorded: &Message, other: &Message) -> Result<bool> {
    Ok(recorded == other || encode_message(recorded)? == encode_message(other)?)
}

fn is_memory(message: &Message) -> bool {
    message.role() == Role::System && message.text().starts_with(MEMORY_HEADING)
}
