//! The schema of the file.

use lcp_store::sqlite::SchemaSpec;
use lcp_types::limits;

pub(super) const SCHEMA: SchemaSpec = SchemaSpec {
    // "LCPC"
    application_id: 0x4C43_5043,
    version: 1,
    name: "session store",
    page_bytes: 4096,
    row_bytes_max: BODY_BYTES_MAX + ROW_BYTES_MAX,
    schema: &[
        CONVERSATIONS, CONTENTS, MESSAGES, MESSAGES_BY_CONTENT, HANDOFFS, OPEN_HANDOFFS, PACKS,
    ],
    migrations: &[],
};

/// Times are in milliseconds since 1970. A fork has a parent and shares its first messages with it.
/// `messages` includes these.
const CONVERSATIONS: &str = "CREATE TABLE conversations (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    window_tokens INTEGER NOT NULL,
    output_reserve_tokens INTEGER NOT NULL,
    parent INTEGER,
    shared INTEGER,
    origin TEXT,
    continued_as TEXT,
    epoch INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    holder TEXT,
    until INTEGER,
    messages INTEGER NOT NULL,
    created INTEGER NOT NULL,
    active INTEGER NOT NULL,
    status TEXT
) STRICT";

/// Message bodies without duplicates. They are ordered by row id rather than by hash, because
/// hashes are random and each insertion would move rows.
const CONTENTS: &str = "CREATE TABLE contents (
    number INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    body BLOB NOT NULL
) STRICT";

const MESSAGES: &str = "CREATE TABLE messages (
    conversation INTEGER NOT NULL,
    position INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    content INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    PRIMARY KEY (conversation, position)
) STRICT, WITHOUT ROWID";

/// Used to find out whether a body is still needed.
const MESSAGES_BY_CONTENT: &str = "CREATE INDEX messages_by_content ON messages (content)";

/// The row of a hand-off is never deleted, and outlives its conversation. `state` is one of the
/// constants below. `successor` is the conversation that resumed the hand-off, or the hand-off that
/// superseded it. `hash` is the hash of its pack, which is stored if `packed` is 1.
const HANDOFFS: &str = "CREATE TABLE handoffs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    previous TEXT,
    messages INTEGER NOT NULL,
    hash BLOB NOT NULL,
    packed INTEGER NOT NULL,
    state INTEGER NOT NULL,
    successor TEXT,
    claimant TEXT,
    claim_until INTEGER,
    claim_fence INTEGER NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
) STRICT";

/// Not resumed, superseded or deleted.
pub(super) const OPEN: i64 = 0;
pub(super) const RESUMED: i64 = 1;
pub(super) const SUPERSEDED: i64 = 2;
/// Deleted while it was open.
pub(super) const EXPIRED: i64 = 3;
const OPEN_HANDOFFS: &str = "CREATE INDEX open_handoffs ON handoffs (conversation) WHERE state = 0";

/// Packs are in a table of their own, because the rows of hand-offs change.
const PACKS: &str = "CREATE TABLE packs (
    handoff INTEGER PRIMARY KEY,
    pack BLOB NOT NULL
) STRICT";

const BODY_BYTES_MAX: u64 = if limits::MESSAGE_BYTES_MAX > limits::HANDOFF_BYTES_MAX {
    limits::MESSAGE_BYTES_MAX
} else {
    limits::HANDOFF_BYTES_MAX
};
/// A generous estimate of the size of a row without its body, including a status.
const ROW_BYTES_MAX: u64 = limits::STATUS_BYTES_MAX + 4096;
