//! Where conversations and hand-offs are kept (RFC 0007 §10).
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

/// The default time for which a hand-off can be resumed, and an idle conversation is kept: 30 days.
pub const DEFAULT_EXPIRY: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Conversations and hand-offs, kept durably.
///
/// Every method is one transaction: it happens whole or not at all, and what it says to have done
/// is kept when it returns. Each blocks; from asynchronous code they belong in `spawn_blocking`.
/// Any number of threads may share a store, and, unless it is in memory, any number of processes.
///
/// **Who may write.** One holder at a time has the [`Lease`] of a conversation. Each lease has a
/// higher *fence* than those before it, and every write is checked against the fence and the epoch
/// in force, so that a holder whose lease ran out, however late it wakes up, changes nothing.
///
/// **Outcomes that are unknown.** Where a connection breaks, nobody knows what was done.
/// [`Self::commit`], [`Self::claim`], [`Self::resume`], [`Self::begin`] and [`Self::fork`] can be
/// called again with the same arguments: what is done already is told, not done twice.
pub trait Store: Send + Sync + fmt::Debug {
    /// Begins a conversation; gives the one there is where it has the same window and reserve.
    ///
    /// # Errors
    ///
    /// [`Error::Exists`] if another has this id.
    fn begin(&self, conversation: &NewConversation) -> Result<ConversationRecord>;

    /// The conversation of this id.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`].
    fn conversation(&self, id: &str) -> Result<ConversationRecord>;

    /// Conversations in the order of their ids, byte by byte: at most `limit` of those
    /// behind `after`, which need not be one. The empty text gives the first page, the
    /// id of the last one of a page the next.
    ///
    /// # Errors
    ///
    /// If the store could not be asked.
    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>>;

    /// Takes the lease of a conversation for `span`. The holder that has it already
    /// gets it anew, with a new fence: its older lease ends.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`]; [`Error::Held`] while another has it;
    /// [`Error::Continued`] if the conversation was handed over and resumed.
    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease>;

    /// Prolongs a lease: it ends `span` from now. Its fence stays.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] if it has ended and another took it, or its epoch has;
    /// a lease that ran out and that nobody took can be prolonged.
    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease>;

    /// Gives a lease back. One that was lost is none, and no error.
    ///
    /// # Errors
    ///
    /// If the store could not be asked.
    fn release(&self, lease: &Lease) -> Result<()>;

    /// Appends messages, and keeps `status` with the conversation if there is any:
    /// a text that means nothing to the store. Gives the number of messages that
    /// the conversation then has, inherited ones counted.
    ///
    /// # Errors
    ///
    /// [`Error::LeaseLost`] if the lease is not in force, [`Error::Continued`] if
    /// the conversation was resumed elsewhere; nothing is appended then.
    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64>;

    /// The messages of a conversation from position `from` on, at most `limit` of
    /// them, those that a fork inherits among them.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`]; [`Error::Damaged`] if a body is not what its hash says.
    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>>;

    /// Begins the next epoch of a conversation: its window was emptied. Keeps
    /// `status` as [`Self::append`] does. The lease given is void, the one returned
    /// is in force, with the same fence and end.
    ///
    /// # Errors
    ///
    /// As [`Self::append`].
    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease>;

    /// Begins a conversation that shares the first `messages` messages of another,
    /// with its window and reserve, the hand-off that it began with, and the epoch of
    /// the window that its next message found there. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`]; [`Error::Exists`] if `id` is another
    /// conversation; [`Error::BadFork`] if there are fewer messages.
    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord>;

    /// Keeps a hand-off durably. Earlier ones of the same conversation that nobody claimed are
    /// superseded by it. One that is kept already under this id, with the same pack, conversation,
    /// previous hand-off and number of messages, is given as it is, whoever has the lease.
    ///
    /// # Errors
    ///
    /// As [`Self::append`]; [`Error::Exists`] if the id is that of another hand-off;
    /// [`Error::UnknownHandoff`] if there is no hand-off as that before it.
    fn commit(&self, lease: &Lease, handoff: &NewHandoff) -> Result<HandoffRecord>;

    /// The hand-off of this id, whatever its state.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHandoff`]; [`Error::Damaged`] if it is not what its hash says.
    fn handoff(&self, id: &str) -> Result<HandoffRecord>;

    /// Claims a hand-off for `span`: of any number of claimants, one gets it. Whoever
    /// has it already gets it again, prolonged, with the same fence. A claim that
    /// ran out can be had by anybody.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHandoff`]; [`Error::Claimed`] while another has it;
    /// [`Error::AlreadyResumed`], [`Error::Superseded`], [`Error::HandoffExpired`].
    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim>;

    /// Resumes a hand-off that was claimed: begins `conversation` in the epoch after
    /// it, and ends the one that was handed over, whose lease is void from then on.
    /// Other hand-offs of that one are superseded: a conversation goes on once.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHandoff`]; [`Error::ClaimLost`] if the claim is not in force; [`Error::AlreadyResumed`];
    /// [`Error::Exists`] if `conversation` has another origin.
    fn resume(&self, claim: &Claim, conversation: &NewConversation) -> Result<ConversationRecord>;

    /// Gives a claim back, so that others can have the hand-off. One that was lost
    /// is none, and no error.
    ///
    /// # Errors
    ///
    /// If the store could not be asked.
    fn abandon(&self, claim: &Claim) -> Result<()>;

    /// A hand-off and those before it, the newest first. Ends at the first, or at one
    /// that has expired.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHandoff`]; [`Error::Damaged`].
    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>>;

    /// The hand-offs of a conversation, whatever became of them, the newest first, at
    /// most `limit`. Without their packs: [`Self::handoff`] gives these.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`].
    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>>;

    /// The newest hand-off of a conversation that can be resumed, if there is one.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownConversation`].
    fn latest(&self, conversation: &str) -> Result<Option<String>>;

    /// Drops what has expired and nothing alive needs, and says what. Nothing is dropped
    /// by itself: call it once a day, or at the start of a program.
    ///
    /// Alive are conversations something was recorded in within the expiry or that
    /// are leased, hand-offs that can be resumed; and all that these came from:
    /// the hand-off that a conversation began with, the conversation that it was
    /// forked from, the hand-offs and conversations before.
    ///
    /// Of a hand-off that was dropped, its id and state stay.
    ///
    /// # Errors
    ///
    /// If the store could not be asked.
    fn expire(&self) -> Result<ExpiryStats>;
}
