//! Leases and claims: taken from holders that have ended, waited for, and extended.

use std::thread;
use std::time::{Duration, Instant};

use super::SessionContinuityService;
use super::session::Session;
use crate::error::{Error, Result};
use crate::holder::holder_has_ended;
use crate::store::{self, Claim, Lease};

/// The pause between two attempts to get a lease or a claim.
const PAUSE: Duration = Duration::from_millis(20);

impl SessionContinuityService {
    /// Repeats `take` while another holder has the lease or claim, for the configured time.
    pub(super) fn wait_for_holder<T>(&self, take: impl Fn() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        loop {
            let taken = take();
            let left = self.config.wait.saturating_sub(start.elapsed());
            match taken {
                Err(Error::Store(store::Error::Held { .. } | store::Error::Claimed { .. }))
                    if !left.is_zero() =>
                {
                    thread::sleep(PAUSE.min(left));
                }
                taken => return taken,
            }
        }
    }

    /// Takes the lease of a conversation, even from a holder that has ended.
    pub(super) fn take_lease(&self, conversation: &str) -> store::Result<Lease> {
        let take = || self.store.lease(conversation, &self.config.holder, self.config.lease);
        let taken = take();
        let Err(store::Error::Held { holder, .. }) = &taken else { return taken };
        if !holder_has_ended(holder) {
            return taken;
        }
        let lease = self.store.conversation(conversation)?.newest_lease();
        // Releasing a lease that was lost since then does nothing.
        if let Some(lease) = lease.filter(|lease| lease.holder == *holder) {
            self.store.release(&lease)?;
        }
        take()
    }

    /// Takes the claim of a hand-off, even from a claimant that has ended.
    pub(super) fn take_claim(&self, handoff: &str) -> store::Result<Claim> {
        let take = |claimant: &str| self.store.claim(handoff, claimant, self.config.lease);
        let taken = take(&self.config.holder);
        let Err(store::Error::Claimed { by, .. }) = &taken else { return taken };
        if !holder_has_ended(by) {
            return taken;
        }
        // A claimant gets its own claim again, and only with it the claim can be abandoned.
        let claim = take(by)?;
        self.store.abandon(&claim)?;
        take(&self.config.holder)
    }

    /// Calls `write` with the lease of a session.
    ///
    /// The lease is extended first if a third of its duration has passed. If the lease has expired,
    /// it is renewed and `write` is called once more.
    pub(super) fn with_lease<T>(
        &self,
        session: &mut Session,
        mut write: impl FnMut(&dyn store::Store, &Lease) -> store::Result<T>,
    ) -> Result<T> {
        if session.leased.elapsed() > self.config.lease / 3 {
            match self.renew_lease(session) {
                // `write` will return the same error, or a more specific one if the conversation
                // was continued.
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

    /// Closes the conversation in this service if another holder writes to it, or if it is unknown
    /// what was written. Reopening it reads the current state.
    fn forget_if_lost(&self, session: &Session, error: store::Error) -> Error {
        use store::Error as Lost;
        if matches!(error, Lost::LeaseLost(_) | Lost::Continued { .. } | Lost::Io(_)) {
            self.forget(&session.record.id, session.lease.fence);
        }
        error.into()
    }
}
