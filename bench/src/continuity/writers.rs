//! Writers of a SQLite file: the store, and bare statements that write the same rows.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lcp_continuity::store::{Lease, NewConversation, NewHandoff, NewMessage, SqliteStore, Store};
use lcp_testkit::SplitMix64;
use rusqlite::{Connection, Params};
use tempfile::TempDir;

use crate::harness::{Result, at, wall_timed};

/// Bytes of a hand-off's pack.
pub(super) const HANDOFF_BYTES: usize = 20_000;

/// Bytes of a message.
pub(super) const MESSAGE_BYTES: usize = 1_000;

/// The duration of a lease, and the longest time that a writer waits for others.
const HOUR: Duration = Duration::from_secs(60 * 60);
const TIMEOUT: Duration = Duration::from_secs(30);

/// An arbitrary time, in milliseconds since the Unix epoch.
const NOW: i64 = 1_750_000_000_000;

/// The status that is stored with each write, as large as that of a service.
pub(super) const STATUS: &str = concat!(
    r#"{"usage":{"conversation_id":"refactoring","total_tokens":140000,"#,
    r#""system_prompt_tokens":4000,"conversation_history_tokens":136000,"#,
    r#""last_message_tokens":900,"message_count":412,"average_tokens_per_turn":331,"#,
    r#""last_updated":1750000000000,"epoch":3,"source":"counted","cached_input_tokens":0,"#,
    r#""output_tokens":0},"trigger":{"state":"armed"},"view":null}"#
);

/// Returns `bytes` bytes of random letters, different ones for each number.
pub(super) fn text(number: u64, bytes: usize) -> Vec<u8> {
    let mut rng = SplitMix64::new(number);
    let letter = |_| b"etaoin shrdlu cmfwyp gbv "[rng.below(25)];
    (0..bytes).map(letter).collect()
}

pub(super) fn conversation(id: &str) -> NewConversation {
    NewConversation { id: id.into(), window_tokens: 200_000, output_reserve_tokens: 8_000 }
}

/// A store, with a lease on a conversation.
pub(super) struct Own<S> {
    store: S,
    lease: Lease,
    written: u64,
}

impl<S: Store> Own<S> {
    /// Begins a conversation and leases it.
    pub(super) fn begin(store: S, id: &str) -> Result<Self> {
        store.begin(&conversation(id))?;
        let lease = store.lease(id, "holder", HOUR)?;
        Ok(Self { store, lease, written: 0 })
    }

    /// Writes a hand-off, and returns how long that took.
    pub(super) fn commit(&mut self) -> Result<Duration> {
        self.written += 1;
        let handoff = NewHandoff {
            id: format!("{} {}", self.lease.conversation, self.written),
            previous: None,
            messages: 0,
            pack: text(self.written, HANDOFF_BYTES),
            status: Some(STATUS.to_owned()),
        };
        wall_timed(|| Ok(self.store.commit(&self.lease, &handoff)?))
    }

    /// Writes a message, and returns how long that took.
    pub(super) fn append(&mut self) -> Result<Duration> {
        self.written += 1;
        let message = [NewMessage { body: text(self.written, MESSAGE_BYTES), tokens: 250 }];
        wall_timed(|| Ok(self.store.append(&self.lease, &message, Some(STATUS))?))
    }
}

/// Prepared statements that write the same rows: no checks, no hashes, no locks but SQLite's.
pub(super) struct Bare {
    connection: Connection,
    conversation: String,
    number: i64,
    written: u64,
    messages: i64,
    newest: Option<i64>,
}

impl Bare {
    /// Begins a conversation in a file that the store creates.
    pub(super) fn begin(path: &Path, id: &str) -> Result<Self> {
        drop(Own::begin(SqliteStore::open(path)?, id)?);
        let connection = open(path)?;
        connection.set_prepared_statement_cache_capacity(64);
        let select = "SELECT number FROM conversations WHERE id = ?1";
        let number = connection.query_row(select, [id], |row| row.get(0))?;
        let conversation = id.to_owned();
        Ok(Self { connection, conversation, number, written: 0, messages: 0, newest: None })
    }

    fn execute(&self, sql: &str, params: impl Params) -> Result<()> {
        self.connection.prepare_cached(sql)?.execute(params)?;
        Ok(())
    }

    fn touch(&self) -> Result<()> {
        self.execute(
            "UPDATE conversations SET messages = ?2, epoch = 0, active = ?3, status = ?4
             WHERE number = ?1",
            (self.number, self.messages, NOW, STATUS),
        )
    }

    /// Returns 32 bytes in place of a hash, different ones for each write and process.
    fn hash(&self) -> Vec<u8> {
        text(self.written ^ (u64::from(std::process::id()) << 32), 32)
    }

    /// Writes a hand-off, and returns how long that took.
    pub(super) fn commit(&mut self) -> Result<Duration> {
        self.written += 1;
        let id = format!("{} {}", self.conversation, self.written);
        let (hash, pack) = (self.hash(), text(self.written, HANDOFF_BYTES));
        let mut number = 0;
        let time = wall_timed(|| {
            self.execute("BEGIN IMMEDIATE", ())?;
            self.touch()?;
            if let Some(newest) = self.newest {
                self.execute(
                    "UPDATE handoffs SET state = 2, successor = ?2 WHERE number = ?1",
                    (newest, &id),
                )?;
            }
            number = self
                .connection
                .prepare_cached(
                    "INSERT INTO handoffs (id, conversation, epoch, previous, messages, hash,
                         packed, state, claim_fence, created, expires)
                     VALUES (?1, ?2, 0, NULL, 0, ?3, 1, 0, 0, ?4, ?4)",
                )?
                .insert((&id, &self.conversation, &hash, NOW))?;
            self.execute("INSERT INTO packs (handoff, pack) VALUES (?1, ?2)", (number, &pack))?;
            self.execute("COMMIT", ())
        })?;
        self.newest = Some(number);
        Ok(time)
    }

    /// Writes a message, and returns how long that took.
    pub(super) fn append(&mut self) -> Result<Duration> {
        self.written += 1;
        let (hash, body) = (self.hash(), text(self.written, MESSAGE_BYTES));
        self.messages += 1;
        wall_timed(|| {
            self.execute("BEGIN IMMEDIATE", ())?;
            let content = self
                .connection
                .prepare_cached("INSERT INTO contents (hash, body) VALUES (?1, ?2)")?
                .insert((&hash, &body))?;
            self.execute(
                "INSERT INTO messages (conversation, position, epoch, content, tokens, recorded)
                 VALUES (?1, ?2, 0, ?3, 250, ?4)",
                (self.number, self.messages - 1, content, NOW),
            )?;
            self.touch()?;
            self.execute("COMMIT", ())
        })
    }
}

/// Creates a folder next to this program, because the system's temporary folder may be in memory.
pub(super) fn folder() -> Result<TempDir> {
    let program = std::env::current_exe().unwrap_or_default();
    let parent = program.parent().map_or_else(std::env::temp_dir, PathBuf::from);
    Ok(tempfile::tempdir_in(&parent).map_err(at(&parent))?)
}

/// Opens a file of a store, with the settings of the store.
pub(super) fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}
