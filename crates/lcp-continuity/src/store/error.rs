//! Errors of a store.

use std::path::PathBuf;

use crate::model::Timestamp;

/// The result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a store. Except for [`Error::Io`], nothing in the store was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No conversation has this id.
    #[error("session {0:?} does not exist")]
    UnknownConversation(String),
    /// No hand-off has this id.
    #[error("hand-off {0:?} does not exist")]
    UnknownHandoff(String),
    /// The id is taken by a different item.
    #[error("the ID {0:?} is already in use; choose another ID")]
    Exists(String),
    /// An id is empty or contains control characters, or the name of a PostgreSQL schema is
    /// invalid.
    ///
    /// An id that is too long is [`Error::TooLarge`].
    #[error("invalid ID {id:?}: it must have 1 to {max} bytes and no control characters")]
    BadId {
        /// The id, shortened.
        id: String,
        /// The maximum length in bytes.
        max: usize,
    },
    /// A fork would share more messages than the conversation has.
    #[error(
        "cannot fork session {conversation:?} at {at}: it has {messages} message{}",
        if .messages == &1 { "" } else { "s" }
    )]
    BadFork {
        /// The conversation.
        conversation: String,
        /// The number of messages that it has.
        messages: u64,
        /// The number of messages to share.
        at: u64,
    },
    /// Another holder has the lease of the conversation.
    #[error(
        "session {conversation:?} is held by {holder:?} until {until}; wait, or close it there"
    )]
    Held {
        /// The conversation.
        conversation: String,
        /// The holder of the lease.
        holder: String,
        /// The time when the lease expires.
        until: Timestamp,
    },
    /// The lease is no longer valid.
    #[error("lost the lease of session {0:?}; take it again and read the session again")]
    LeaseLost(String),
    /// The conversation was handed over and resumed.
    #[error("session {conversation:?} was continued as {into:?}; write to that, or fork this one")]
    Continued {
        /// The conversation.
        conversation: String,
        /// The one that continues it.
        into: String,
    },
    /// Another claimant is about to resume the hand-off.
    #[error("hand-off {handoff:?} is claimed by {by:?} until {until}; try again after that time")]
    Claimed {
        /// The hand-off.
        handoff: String,
        /// The claimant.
        by: String,
        /// The time when the claim expires.
        until: Timestamp,
    },
    /// The claim is no longer valid.
    #[error("lost the claim of hand-off {0:?}; claim it again")]
    ClaimLost(String),
    /// The hand-off was already resumed.
    #[error("hand-off {handoff:?} was already resumed as session {into:?}")]
    AlreadyResumed {
        /// The hand-off.
        handoff: String,
        /// The conversation that began with it.
        into: String,
    },
    /// Another hand-off of the same conversation replaced this one.
    #[error("hand-off {handoff:?} is superseded by {by:?}; resume that one")]
    Superseded {
        /// The hand-off.
        handoff: String,
        /// The newer hand-off, or the one that was resumed.
        by: String,
    },
    /// The hand-off was not resumed in time.
    #[error("hand-off {0:?} has expired")]
    HandoffExpired(String),
    /// An item is too large for the store.
    #[error("{what} exceeds {limit}: got {found} bytes, maximum {max}")]
    TooLarge {
        /// The kind of the item.
        what: &'static str,
        /// The name of the limit in `lcp_types::limits`.
        limit: &'static str,
        /// The size of the item in bytes.
        found: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// The store is read-only.
    #[error("the store is read-only; make it writable, or open another one")]
    ReadOnly,
    /// The disk is full, or the store reached its size limit.
    #[error("the store is full; free space and try again (the stored data is intact)")]
    Full,
    /// Other processes held the lock of the store longer than the wait limit.
    #[error("the store is busy: another process is writing to it; try again")]
    Busy,
    /// The stored data is corrupt.
    #[error("the store is damaged: {0}; restore it, or create a new one")]
    Damaged(String),
    /// The file exists but is not a store. It was not changed.
    #[error("{} is not a session store: {reason}; choose another path", .path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// The reason, as far as it can be determined.
        reason: String,
    },
    /// The database schema exists but is not a store. It was not changed.
    #[error("the schema {schema:?} is not a session store: {reason}; choose another schema")]
    ForeignSchema {
        /// The schema.
        schema: String,
        /// The reason, as far as it can be determined.
        reason: String,
    },
    /// The store was written by a newer version of this crate. It was not changed.
    #[error(
        "the store has version {found}, but this program supports at most {known}; use a newer \
         program"
    )]
    TooNew {
        /// The version of the store.
        found: u32,
        /// The newest version that this crate supports.
        known: u32,
    },
    /// The file is on a network file system, where SQLite's log is not safe.
    #[error(
        "{} is on a network file system ({kind}), which SQLite's write-ahead log does not support; \
         choose a local path, or PostgreSQL",
        .path.display()
    )]
    NetworkFileSystem {
        /// The file.
        path: PathBuf,
        /// The type of the file system.
        kind: String,
    },
    /// The store could not be reached, read or written for another reason. For example, its file
    /// was moved or deleted while open, or a database refused the connection. The operation may or
    /// may not have taken effect.
    #[error("cannot use the store: {0}")]
    Io(String),
}

impl Error {
    pub(super) fn continued(conversation: &str, into: &str) -> Self {
        Self::Continued { conversation: conversation.to_owned(), into: into.to_owned() }
    }

    /// Returns a stable name of the error, for programs.
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
