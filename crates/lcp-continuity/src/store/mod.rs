//! Stores of conversations and hand-offs (RFC 0007 §10).
//!
//! | where | type | feature |
//! |---|---|---|
//! | in memory, for tests and for sessions that need not outlive their process | [`MemoryStore`] | – |
#![cfg_attr(
    feature = "sqlite",
    doc = "| in one file, for the processes of one machine | [`SqliteStore`] | `sqlite` (default) |"
)]
#![cfg_attr(
    feature = "postgres",
    doc = "| where machines share it | [`PostgresStore`] | `postgres` |"
)]

mod error;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod records;
#[cfg(feature = "sqlite")]
mod sqlite;
mod tables;
mod validate;

use std::fmt;
use std::time::Duration;

pub use error::{Error, Result};
pub use memory::MemoryStore;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresOptions, PostgresStore};
pub use records::{
    Claim, ConversationRecord, ExpiryStats, ForkPoint, HandoffRecord, HandoffState, Lease,
    NewConversation, NewHandoff, NewMessage, StoredMessage,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteStore};

/// The default time for which a hand-off can be resumed and an idle conversation is stored: 30
/// days.
pub const DEFAULT_EXPIRY: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A durable store of conversations and hand-offs.
///
/// Every method is one transaction: it takes effect completely or not at all, and its changes are
/// durable when it returns. All methods block; in asynchronous code use `spawn_blocking`. Any
/// number of threads may share a store. Any number of processes may share it too, unless it is in
/// memory.
///
/// **Leases.** One holder at a time has the [`Lease`] of a conversation, which is the right to
/// write to it. Each lease has a higher *fence* than all earlier ones. Every write is checked
/// against the current fence and epoch, so a holder whose lease has expired cannot change anything,
/// however late it wakes up.
///
/// **Unknown outcomes.** If a connection breaks, the caller cannot know if a call took effect.
/// [`Self::commit`], [`Self::claim`], [`Self::resume`], [`Self::begin`] and [`Self::fork`] can be
/// repeated with the same arguments: they return the existing result instead of acting twice.
pub trait Store: Send + Sync + fmt::Debug {
    /// Begins a conversation. Returns the existing one if it has the same window and reserve.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Exists`] if the id belongs to a different conversation.
    fn begin(&self, conversation: &NewConversation) -> Result<ConversationRecord>;

    /// Returns the conversation with this id.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownConversation`] if there is no such conversation.
    fn conversation(&self, id: &str) -> Result<ConversationRecord>;

    /// Returns at most `limit` conversations whose ids are greater than `after`, ordered by the
    /// bytes of their ids.
    ///
    /// `after` need not be the id of a conversation. Pass an empty string for the first page, and
    /// the last id of a page for the next one.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used.
    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>>;

    /// Takes the lease of a conversation for `span`. A holder that already has the lease gets a new
    /// one with a new fence, which ends the older one.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::UnknownConversation`] if there is no such conversation,
    /// - [`Error::Held`] if another holder has the lease, and
    /// - [`Error::Continued`] if the conversation was handed over and resumed.
    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease>;

    /// Extends a lease until `span` from now. Its fence does not change. A lease that has expired
    /// can be extended as long as no other lease was taken.
    ///
    /// # Errors
    ///
    /// Returns [`Error::LeaseLost`] if a newer lease was taken, or if the epoch of the lease has
    /// ended.
    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease>;

    /// Releases a lease. Does nothing if the lease was lost.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used.
    fn release(&self, lease: &Lease) -> Result<()>;

    /// Appends messages. Returns the resulting number of messages in the conversation, including
    /// inherited ones.
    ///
    /// If `status` is given, it is stored with the conversation. The store does not interpret it.
    ///
    /// # Errors
    ///
    /// Returns [`Error::LeaseLost`] if the lease is not valid, or [`Error::Continued`] if the
    /// conversation was handed over and resumed. Nothing is appended then.
    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64>;

    /// Returns at most `limit` messages of a conversation from position `from` on, including
    /// messages that a fork inherits.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownConversation`] if there is no such conversation, or
    /// [`Error::Damaged`] if a body does not match its hash.
    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>>;

    /// Begins the next epoch of a conversation after its window was emptied. Stores `status` as
    /// [`Self::append`] does.
    ///
    /// The given lease becomes invalid. The returned lease has the same fence and end.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::append`].
    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease>;

    /// Changes the window and the reserve of a conversation, for the epoch of the lease and all
    /// later ones. Stores `status` as [`Self::append`] does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::append`].
    fn set_window(
        &self,
        lease: &Lease,
        window_tokens: u32,
        output_reserve_tokens: u32,
        status: Option<&str>,
    ) -> Result<()>;

    /// Begins a conversation that shares the first `messages` messages of another.
    ///
    /// It has the same window and reserve, and the same hand-off that it began with. Its epoch is
    /// that of the next message in the other conversation. Nothing is copied.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::UnknownConversation`] if there is no such conversation,
    /// - [`Error::Exists`] if `id` belongs to a different conversation, and
    /// - [`Error::BadFork`] if the conversation has fewer messages.
    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord>;

    /// Stores a hand-off durably. It supersedes all earlier unclaimed hand-offs of the same
    /// conversation.
    ///
    /// If the same hand-off (id, pack, conversation, previous hand-off and number of messages) is
    /// already stored, it is returned unchanged, even if the lease is no longer valid.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::append`], [`Error::Exists`] if the id belongs to a different
    /// hand-off, and [`Error::UnknownHandoff`] if the previous hand-off does not exist.
    fn commit(&self, lease: &Lease, handoff: &NewHandoff) -> Result<HandoffRecord>;

    /// Returns the hand-off with this id, in any state.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownHandoff`] if there is no such hand-off, or [`Error::Damaged`] if it
    /// does not match its hash.
    fn handoff(&self, id: &str) -> Result<HandoffRecord>;

    /// Claims a hand-off for `span`. Only one of several claimants succeeds. A claimant that
    /// already has the claim gets it again, extended, with the same fence. An expired claim can be
    /// taken by anyone.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::UnknownHandoff`] if there is no such hand-off,
    /// - [`Error::Claimed`] if another claimant has it, and
    /// - [`Error::AlreadyResumed`], [`Error::Superseded`] or [`Error::HandoffExpired`] if it is in
    ///   one of these states.
    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim>;

    /// Resumes a claimed hand-off by beginning `conversation` in the epoch after that of the
    /// hand-off.
    ///
    /// The conversation that was handed over ends, and its lease becomes invalid. All its other
    /// hand-offs are superseded, because a conversation can be continued only once.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::UnknownHandoff`] if there is no such hand-off,
    /// - [`Error::ClaimLost`] if the claim is not valid,
    /// - [`Error::AlreadyResumed`] if the hand-off was resumed, and
    /// - [`Error::Exists`] if the id of `conversation` is taken.
    fn resume(&self, claim: &Claim, conversation: &NewConversation) -> Result<ConversationRecord>;

    /// Releases a claim, so that others can claim the hand-off. Does nothing if the claim was lost.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used.
    fn abandon(&self, claim: &Claim) -> Result<()>;

    /// Returns a hand-off and its predecessors, newest first. The list ends at the first hand-off
    /// or at one whose contents were deleted.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownHandoff`] if there is no such hand-off, or [`Error::Damaged`] if the
    /// chain is inconsistent.
    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>>;

    /// Returns at most `limit` hand-offs of a conversation in any state, newest first. Their packs
    /// are left out; use [`Self::handoff`] to read one.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownConversation`] if there is no such conversation.
    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>>;

    /// Returns the id of the newest hand-off of a conversation that can be resumed, if any.
    ///
    /// # Errors
    ///
    /// Returns [`Error::UnknownConversation`] if there is no such conversation.
    fn latest(&self, conversation: &str) -> Result<Option<String>>;

    /// Deletes expired data that nothing live depends on. Returns counts of the deleted items.
    ///
    /// Nothing is deleted automatically: call this once a day, or when a program starts.
    ///
    /// Live data are
    ///
    /// - conversations that were active within the expiry time or are leased,
    /// - hand-offs that can be resumed, and
    /// - everything these depend on: the hand-off a conversation began with, the conversation it
    ///   was forked from, and earlier hand-offs and conversations.
    ///
    /// The id and state of a deleted hand-off remain.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be used.
    fn expire(&self) -> Result<ExpiryStats>;
}
