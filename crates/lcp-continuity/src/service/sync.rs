//! A transcript that grows is recorded from where it was left.

use lcp_types::Role;

use super::session::Session;
use super::{SessionContinuityService, lock};
use crate::compact::MEMORY_HEADING;
use crate::error::{Error, Result};
use crate::handoff_pack::encode_message;
use crate::model::Message;
use crate::resume_prompt::DirectiveOptions;

const BATCH: usize = 1_000;

impl SessionContinuityService {
    /// Records what `messages`, a conversation from its beginning, has beyond what is
    /// recorded of it, and gives the number of messages recorded. Fewer than there are
    /// record nothing.
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

    /// Whether the first of these is what the conversation was told first: that is
    /// counted, and in the hand-off.
    fn begins_with_directive(&self, session: &Session, messages: &[Message]) -> Result<bool> {
        let (Some(origin), Some(first)) = (&session.origin, messages.first()) else {
            return Ok(false);
        };
        let directive = self.directive(origin, &DirectiveOptions::from_handoff(origin))?;
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
