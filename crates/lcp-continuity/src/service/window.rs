//! Conversations that continue with another model or window.

use super::{SessionContinuityService, lock};
use crate::error::Result;
use crate::trigger::Trigger;

impl SessionContinuityService {
    /// Continues an open conversation in a window of `window_tokens`, of which
    /// `output_reserve_tokens` are reserved for the output, durably. Returns whether that changed
    /// the window or the reserve.
    ///
    /// The thresholds apply to the new window at once, and everything that was reported or prepared
    /// for the old one may be due again: in a smaller window, the next [`Self::check`] may prepare a
    /// hand-off, and [`Self::compact_if_low`] may compact. Recorded token counts do not change.
    ///
    /// `model` is a name that [`Self::model`] returns from then on, also in forks and in the
    /// sessions that resume hand-offs of the conversation. `None` keeps the known name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::record_message`].
    pub fn set_window(
        &self,
        conversation: &str,
        window_tokens: u32,
        output_reserve_tokens: u32,
        model: Option<&str>,
    ) -> Result<bool> {
        let session = self.session(conversation)?;
        let mut session = lock(&session);
        let record = &session.record;
        let is_resized = (window_tokens, output_reserve_tokens)
            != (record.window_tokens, record.output_reserve_tokens);
        let model = model.or(session.model.as_deref()).map(str::to_owned);
        if !is_resized && model == session.model {
            return Ok(false);
        }
        let before = (session.trigger.clone(), std::mem::replace(&mut session.model, model));
        if is_resized {
            session.trigger = Trigger::new(session.record.epoch);
        }
        let status = session.status(&self.tracker.usage(conversation));
        let changed = self.with_lease(&mut session, |store, lease| {
            store.set_window(lease, window_tokens, output_reserve_tokens, status.as_deref())
        });
        if let Err(error) = changed {
            (session.trigger, session.model) = before;
            return Err(error);
        }
        session.record.window_tokens = window_tokens;
        session.record.output_reserve_tokens = output_reserve_tokens;
        Ok(is_resized)
    }

    /// Returns the name of the model of an open conversation, if [`Self::set_window`] received one.
    ///
    /// # Errors
    ///
    /// Returns [`Error::NotOpen`](crate::Error::NotOpen) if the conversation is not open.
    pub fn model(&self, conversation: &str) -> Result<Option<String>> {
        let session = self.session(conversation)?;
        let session = lock(&session);
        Ok(session.model.clone())
    }
}
