//! What can go wrong with a store, and what to do about it.

use std::path::PathBuf;

use crate::model::Timestamp;

/// The result of asking a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A store that could not do what it was asked. What it had before, it still has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no conversation of this id.
    #[error("there is no conversation {0:?}")]
    UnknownConversation(String),
    /// There is no hand-off of this id.
    #[error("there is no hand-off {0:?}")]
    UnknownHandoff(String),
    /// The id is taken, by something else.
    #[error("{0:?} exists already and is something else: choose another id")]
    Exists(String),
    /// An id is empty, too long, or not printable.
    #[error("the id {id:?} cannot be used: it must have 1 to {max} bytes, no control characters")]
    BadId {
        /// The id, shortened.
        id: String,
        /// Bytes that it may have.
        max: usize,
    },
    /// A fork was to share more than there is.
    #[error("conversation {conversation:?} has {messages} messages, none can be forked at {at}")]
    BadFork {
        /// The conversation.
        conversation: String,
        /// How many it has.
        messages: u64,
        /// How many were to be shared.
        at: u64,
    },
    /// Another holder may write to the conversation.
    #[error(
        "conversation {conversation:?} is held by {holder:?} until {until}: wait, or close it there"
    )]
    Held {
        /// The conversation.
        conversation: String,
        /// Who has the lease.
        holder: String,
        /// Until when.
        until: Timestamp,
    },
    /// The lease is not in force any longer.
    #[error("the lease of conversation {0:?} was lost: take it again and read what others wrote")]
    LeaseLost(String),
    /// The conversation was handed over and resumed.
    #[error("conversation {conversation:?} goes on as {into:?}: write to that, or fork this one")]
    Continued {
        /// The conversation.
        conversation: String,
        /// The one that continues it.
        into: String,
    },
    /// Somebody else is about to resume the hand-off.
    #[error(
        "hand-off {handoff:?} is claimed by {by:?} until {until}: wait, it is resumed or free then"
    )]
    Claimed {
        /// The hand-off.
        handoff: String,
        /// Who has it.
        by: String,
        /// Until when.
        until: Timestamp,
    },
    /// The claim is not in force any longer.
    #[error("the claim of hand-off {0:?} was lost: claim it again")]
    ClaimLost(String),
    /// The hand-off was resumed.
    #[error("hand-off {handoff:?} was resumed already: the work goes on as {into:?}")]
    AlreadyResumed {
        /// The hand-off.
        handoff: String,
        /// The conversation that began with it.
        into: String,
    },
    /// Another hand-off of the same conversation took its place.
    #[error("hand-off {handoff:?} is superseded by {by:?}: resume that")]
    Superseded {
        /// The hand-off.
        handoff: String,
        /// The newer one, or the one that was resumed.
        by: String,
    },
    /// Nobody resumed the hand-off in time.
    #[error("hand-off {0:?} has expired")]
    HandoffExpired(String),
    /// Something is too large to be kept.
    #[error("{what} is too large: {limit} is {max} bytes, it has {found}")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// The limit's name, in `lcp_types::limits`.
        limit: &'static str,
        /// Its bytes.
        found: u64,
        /// What the limit allows, in bytes.
        max: u64,
    },
    /// The store can only be read.
    #[error("the store is read-only: make it writable, or open another one")]
    ReadOnly,
    /// There is no room, on the disk or within the store's own limit.
    #[error("the store is full: make room and try again, what it had is unharmed")]
    Full,
    /// Others kept the store to themselves for longer than one waits.
    #[error("the store is busy: others write to it, try again")]
    Busy,
    /// What is kept is not what was put.
    #[error("the store is damaged: restore it, or begin a new one ({0})")]
    Damaged(String),
    /// The file is something else. It was not written to.
    #[error("{} is not a continuity store: {reason}; choose another path", .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What it is, as far as that can be told.
        reason: String,
    },
    /// The schema of a database is something else. It was not written to.
    #[error("the schema {schema:?} is not a continuity store: {reason}; choose another schema")]
    ForeignSchema {
        /// The schema.
        schema: String,
        /// What it is, as far as that can be told.
        reason: String,
    },
    /// The store was written by a newer version of this crate. It was not written to.
    #[error("the store has version {found}, this program knows {known}: use a newer program")]
    TooNew {
        /// The store's version.
        found: u32,
        /// The newest version that is known.
        known: u32,
    },
    /// The file is on a file system on which it would not be safe.
    #[error(
        "{} is on a network file system ({kind}), where SQLite's log does not work: choose a local \
         path, or PostgreSQL",
        .path.display()
    )]
    NetworkFileSystem {
        /// The file.
        path: PathBuf,
        /// The file system.
        kind: String,
    },
    /// The store could not be reached, read or written, for another reason: its file was
    /// moved or deleted while it was open, a database does not let one in. What was asked
    /// for may have been done or not.
    #[error("the store cannot be used: {0}")]
    Io(String),
}

impl Error {
    pub(super) fn continued(conversation: &str, into: &str) -> Self {
        Self::Continued { conversation: conversation.to_owned(), into: into.to_owned() }
    }

    /// A name that stays the same, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UnknownConversation(_) => "unknown_conversation",
            Self::UnknownHandoff(_) => "unknown_handoff",
            Self::Exists(_) => "exists",
            Self::BadId { .. } => "bad_id",
            Self::BadFork { .. } => "bad_fork",
            Self::Held { .. } => "held",
            Self::LeaseLost(_) => "lease_lost",
            Self::Continued { .. } => "continued",
            Self::Claimed { .. } => "claimed",
            Self::ClaimLost(_) => "claim_lost",
            Self::AlreadyResumed { .. } => "already_resumed",
            Self::Superseded { .. } => "superseded",
            Self::HandoffExpired(_) => "handoff_expired",
            Self::TooLarge { .. } => "too_large",
            Self::ReadOnly => "read_only",
            Self::Full => "full",
            Self::Busy => "busy",
            Self::Damaged(_) => "damaged",
            Self::NotAStore { .. } | Self::ForeignSchema { .. } => "not_a_store",
            Self::TooNew { .. } => "too_new",
            Self::NetworkFileSystem { .. } => "network_file_system",
            Self::Io(_) => "io",
        }
    }
}
