//! A store in PostgreSQL, shared by several machines.
//!
//! **Locking rule.** The store is safe under `READ COMMITTED` because every statement that writes
//! data of a conversation (its messages or hand-offs) first locks the row of the conversation, and
//! decides by that row.
//!
//! Such a statement sees all other rows as they were when it began, before it waited for the lock.
//! Where that matters, the column `changes` of the locked row shows whether something has changed
//! since. If so, the statement is sent again after the lock was taken.

mod address;
mod error;
mod pool;
mod rows;
mod schema;
mod statements;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_postgres::Row;

use self::address::Address;
use self::error::Failure;
use self::pool::{Database, Values};
use self::rows::{name, number, to_bigint, value};
use self::statements::{
    ABANDON, APPEND, BEGIN, CHAIN, CLAIM, COMMIT, DROP_EXPIRED, FIND_CONVERSATION, FIND_HANDOFF,
    FORK, LATEST, LEASE, LIST_CONVERSATIONS, LIST_HANDOFFS, LOCK_CONVERSATIONS, NEXT_EPOCH,
    READ_MESSAGES, RELEASE, RENEW, RESUME, SET_WINDOW, Statement,
};
use super::error::{Error, Result};
use super::records::{
    Claim, ConversationRecord, ExpiryStats, HandoffRecord, HandoffState, Lease, NewConversation,
    NewHandoff, NewMessage, StoredMessage,
};
use super::{DEFAULT_EXPIRY, Store, validate};
use crate::model::{Clock, Timestamp, to_millis};

/// The number of attempts to delete expired data. Other transactions may conflict with one.
const EXPIRE_TRIES: u32 = 3;

/// Options for opening a [`PostgresStore`].
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The name of the schema, 1 to 63 bytes. It is created if it does not exist. Default:
    /// `lcp_continuity`.
    pub schema: String,
    /// The maximum number of connections, at least 1. Default: 8.
    pub pool_size: usize,
    /// The maximum time to wait for a connection. Default: 10 seconds.
    pub connect_timeout: Duration,
    /// The maximum time to wait for an answer, including locks. Default: 30 seconds.
    pub statement_timeout: Duration,
    /// The time for which a hand-off can be resumed, and for which a conversation is stored after
    /// its last record. Default: [`DEFAULT_EXPIRY`].
    pub expiry: Duration,
    /// The clock. Default: `None`, the clock of the server, so that the clocks of client machines
    /// do not matter.
    pub clock: Option<Arc<dyn Clock>>,
    /// A PEM file with root certificates for checking the server's certificate, instead of those
    /// that the system trusts.
    pub root_certificate: Option<PathBuf>,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            schema: "lcp_continuity".to_owned(),
            pool_size: 8,
            connect_timeout: Duration::from_secs(10),
            statement_timeout: Duration::from_secs(30),
            expiry: DEFAULT_EXPIRY,
            clock: None,
            root_certificate: None,
        }
    }
}

/// A store of conversations and hand-offs in PostgreSQL 12 or newer, for machines that share them
/// (RFC 0007 §10).
///
/// Each call of `append`, `commit`, `claim`, `resume` and `lease` is one statement and one round
/// trip. Every session sets `synchronous_commit` to `on` or stricter, so that confirmed changes are
/// durable; the server must have `fsync` enabled. Message bodies are stored once, under their
/// BLAKE3 hashes, and verified when read.
///
/// The store has its own async runtime, so it can be called from anywhere, even from a task of
/// another runtime. The calling thread is blocked, so use `spawn_blocking` there.
///
/// If a connection breaks, calls that can be repeated (see [`Store`](super::Store)) are repeated
/// once.
///
/// Settings are made once per session, so a connection pooler must assign whole sessions
/// (PgBouncer's `pool_mode = session`).
///
/// ```no_run
/// use lcp_continuity::store::{PostgresStore, Store};
///
/// let url = "postgres://agent:secret@db.example.org/agents?sslmode=require";
/// let store = PostgresStore::open(url)?;
/// println!("{:?}", store.latest("refactoring")?);
/// # Ok::<(), lcp_continuity::store::Error>(())
/// ```
pub struct PostgresStore {
    database: Database,
    schema: String,
    clock: Option<Arc<dyn Clock>>,
    expiry: Duration,
}

impl PostgresStore {
    /// Opens the store in the schema `lcp_continuity` of a database. Creates its tables if they
    /// do not exist.
    ///
    /// `url` is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or in libpq's format
    /// `host=… user=…`. These values of `sslmode` are supported:
    ///
    /// - `disable`: no TLS.
    /// - `prefer` (default): TLS if the server supports it.
    /// - `require`, `verify-ca` and `verify-full`: only TLS.
    ///
    /// With TLS, the certificate of the server and its host name are always verified.
    ///
    /// # Errors
    ///
    /// Returns
    ///
    /// - [`Error::Io`](super::Error::Io) if the database cannot be reached,
    /// - [`Error::ForeignSchema`](super::Error::ForeignSchema) if the schema contains other tables,
    ///   and
    /// - [`Error::TooNew`](super::Error::TooNew) if a newer version wrote it.
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, &PostgresOptions::default())
    }

    /// Opens the store with these options. See [`Self::open`].
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::open`], and [`Error::BadId`](super::Error::BadId) if the name
    /// of the schema is invalid.
    pub fn open_with(url: &str, options: &PostgresOptions) -> Result<Self> {
        schema::check_name(&options.schema)?;
        let address = Address::parse(url, options)?;
        let database = Database::connect(address, options)?;
        database.block_on(schema::create(&database, &options.schema))?;
        Ok(Self {
            database,
            schema: options.schema.clone(),
            clock: options.clock.clone(),
            expiry: options.expiry,
        })
    }

    fn rows(&self, statement: &Statement, values: Values<'_>) -> Result<Vec<Row>> {
        self.database.rows(statement, values)
    }

    async fn try_to_expire(&self) -> Result<ExpiryStats, Failure> {
        let (now, expiry) = (self.now(), to_millis(self.expiry));
        let mut client = None;
        let work = self.database.bounded(&mut client, async |client| {
            let transaction = client.transaction().await?;
            transaction.batch_execute(LOCK_CONVERSATIONS).await?;
            let statement = transaction.prepare_cached(DROP_EXPIRED).await?;
            let row = transaction.query_one(&statement, &[&now, &expiry]).await?;
            transaction.commit().await?;
            Ok(ExpiryStats {
                conversations: number(&row, "conversations")?,
                handoffs: number(&row, "handoffs")?,
                bodies: number(&row, "bodies")?,
            })
        });
        work.await
    }

    /// Returns the current time of the given clock, or `None` if the server's clock is used.
    fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now().0)
    }
}

/// Prints the address of the database, never the password.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.database.location)
            .field("schema", &self.schema)
            .field("expiry", &self.expiry)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

impl Store for PostgresStore {
    fn begin(&self, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        let (window, reserve) =
            (i64::from(new.window_tokens), i64::from(new.output_reserve_tokens));
        let row = self.database.row(&BEGIN, &[&new.id, &window, &reserve, &self.now()])?;
        rows::conversation(&row)?.if_begun_as(new, None)
    }

    fn conversation(&self, id: &str) -> Result<ConversationRecord> {
        let rows = self.rows(&FIND_CONVERSATION, &[&name(id)])?;
        rows.first()
            .map_or_else(|| Err(Error::UnknownConversation(id.to_owned())), rows::conversation)
    }

    fn conversations(&self, after: &str, limit: u64) -> Result<Vec<ConversationRecord>> {
        // No id contains NUL. So cutting the text at a NUL does not change which ids follow it.
        let after = after.split('\0').next().unwrap_or_default();
        let rows = self.rows(&LIST_CONVERSATIONS, &[&after, &to_bigint(limit)])?;
        rows.iter().map(rows::conversation).collect()
    }

    fn lease(&self, conversation: &str, holder: &str, span: Duration) -> Result<Lease> {
        validate::id(holder)?;
        let values: Values<'_> = &[&name(conversation), &holder, &self.now(), &to_millis(span)];
        let rows = self.rows(&LEASE, values)?;
        let row =
            rows.first().ok_or_else(|| Error::UnknownConversation(conversation.to_owned()))?;
        let until = Timestamp(value::<Option<i64>>(row, "held_until")?.unwrap_or_default());
        let conversation = conversation.to_owned();
        match value(row, "verdict")? {
            "ok" => Ok(Lease {
                conversation,
                holder: holder.to_owned(),
                fence: number(row, "fence")?,
                epoch: number(row, "epoch")?,
                until,
            }),
            "held" => Err(Error::Held { conversation, holder: value(row, "holder")?, until }),
            _ => Err(Error::continued(&conversation, value(row, "continued_as")?)),
        }
    }

    fn renew(&self, lease: &Lease, span: Duration) -> Result<Lease> {
        let (id, holder, fence, epoch) = lease_values(lease);
        let values: Values<'_> = &[&id, &holder, &fence, &epoch, &self.now(), &to_millis(span)];
        let rows = self.rows(&RENEW, values)?;
        let row = rows.first().ok_or_else(|| Error::LeaseLost(lease.conversation.clone()))?;
        Ok(Lease { until: rows::moment(row, "held_until")?, ..lease.clone() })
    }

    fn release(&self, lease: &Lease) -> Result<()> {
        let (id, holder, fence, epoch) = lease_values(lease);
        self.rows(&RELEASE, &[&id, &holder, &fence, &epoch]).map(drop)
    }

    fn append(&self, lease: &Lease, messages: &[NewMessage], status: Option<&str>) -> Result<u64> {
        validate::messages(messages, status)?;
        let hashes: Vec<[u8; 32]> =
            messages.iter().map(|message| *blake3::hash(&message.body).as_bytes()).collect();
        // The bodies without duplicates, ordered by hash.
        let bodies: BTreeMap<&[u8], &[u8]> = hashes
            .iter()
            .zip(messages)
            .map(|(hash, message)| (hash.as_slice(), message.body.as_slice()))
            .collect();
        let (body_hashes, bodies): (Vec<&[u8]>, Vec<&[u8]>) = bodies.into_iter().unzip();
        let hashes: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
        let tokens: Vec<i64> = messages.iter().map(|message| i64::from(message.tokens)).collect();

        let (id, holder, fence, epoch) = lease_values(lease);
        let (now, status) = (self.now(), status.map(str::as_bytes));
        let values: Values<'_> =
            &[&id, &holder, &fence, &epoch, &now, &status, &body_hashes, &bodies, &hashes, &tokens];
        number(check_written(&self.rows(&APPEND, values)?, lease)?, "messages")
    }

    fn messages(&self, conversation: &str, from: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        let end = from.saturating_add(limit);
        let rows =
            self.rows(&READ_MESSAGES, &[&name(conversation), &to_bigint(from), &to_bigint(end)])?;
        let first =
            rows.first().ok_or_else(|| Error::UnknownConversation(conversation.to_owned()))?;
        let count: u64 = number(first, "there")?;
        let mut messages = Vec::with_capacity(rows.len());
        for row in &rows {
            let Some(position) = value::<Option<i64>>(row, "position")? else { break };
            let position = u64::try_from(position).unwrap_or(u64::MAX);
            if position != from.saturating_add(messages.len() as u64) {
                break;
            }
            messages.push(rows::message(row, conversation, position)?);
        }
        let expected = end.min(count).saturating_sub(from);
        if messages.len() as u64 == expected {
            return Ok(messages);
        }
        let missing = from.saturating_add(messages.len() as u64);
        Err(rows::damaged_message(conversation, missing, "missing"))
    }

    fn next_epoch(&self, lease: &Lease, status: Option<&str>) -> Result<Lease> {
        validate::status(status)?;
        let (id, holder, fence, epoch) = lease_values(lease);
        let (now, status) = (self.now(), status.map(str::as_bytes));
        let rows = self.rows(&NEXT_EPOCH, &[&id, &holder, &fence, &epoch, &now, &status])?;
        let row = check_written(&rows, lease)?;
        let until = rows::moment(row, "held_until")?;
        Ok(Lease { epoch: number(row, "epoch")?, until, ..lease.clone() })
    }

    fn set_window(
        &self,
        lease: &Lease,
        window_tokens: u32,
        output_reserve_tokens: u32,
        status: Option<&str>,
    ) -> Result<()> {
        validate::status(status)?;
        let (id, holder, fence, epoch) = lease_values(lease);
        let (now, status) = (self.now(), status.map(str::as_bytes));
        let (window, reserve) = (i64::from(window_tokens), i64::from(output_reserve_tokens));
        let values: Values<'_> = &[&id, &holder, &fence, &epoch, &now, &status, &window, &reserve];
        check_written(&self.rows(&SET_WINDOW, values)?, lease).map(drop)
    }

    fn fork(&self, conversation: &str, messages: u64, id: &str) -> Result<ConversationRecord> {
        validate::id(id)?;
        let values: Values<'_> = &[&name(conversation), &to_bigint(messages), &id, &self.now()];
        let rows = self.rows(&FORK, values)?;
        let row =
            rows.first().ok_or_else(|| Error::UnknownConversation(conversation.to_owned()))?;
        if rows::exists(row)? {
            return rows::conversation(row)?.if_forked_at(conversation, messages);
        }
        Err(Error::BadFork {
            conversation: conversation.to_owned(),
            messages: number(row, "there")?,
            at: messages,
        })
    }

    fn commit(&self, lease: &Lease, new: &NewHandoff) -> Result<HandoffRecord> {
        validate::handoff(new)?;
        let hash = *blake3::hash(&new.pack).as_bytes();
        let hash = hash.as_slice();
        let (conversation, holder, fence, epoch) = lease_values(lease);
        let (now, expiry) = (self.now(), to_millis(self.expiry));
        let previous = new.previous.as_deref().map(name);
        let (messages, status) =
            (to_bigint(new.messages), new.status.as_ref().map(String::as_bytes));
        let values: Values<'_> = &[
            &conversation, &holder, &fence, &epoch, &now, &new.id, &previous, &messages, &hash,
            &new.pack, &expiry, &status,
        ];
        let rows = self.rows(&COMMIT, values)?;
        let row = rows.first().ok_or_else(|| Error::LeaseLost(lease.conversation.clone()))?;
        if !rows::exists(row)? {
            check_written(&rows, lease)?;
            return Err(Error::UnknownHandoff(
                new.previous.as_deref().unwrap_or_default().to_owned(),
            ));
        }
        let is_same = value::<&[u8]>(row, "hash")? == hash
            && value::<&str>(row, "conversation")? == lease.conversation
            && value::<Option<&str>>(row, "previous")? == new.previous.as_deref()
            && value::<i64>(row, "messages")? == messages;
        if !is_same {
            return Err(Error::Exists(new.id.clone()));
        }
        let is_dropped = value::<Option<&[u8]>>(row, "pack")?.is_none();
        rows::handoff_with(row, if is_dropped { Vec::new() } else { new.pack.clone() })
    }

    fn handoff(&self, id: &str) -> Result<HandoffRecord> {
        let rows = self.rows(&FIND_HANDOFF, &[&name(id), &self.now()])?;
        rows.first().map_or_else(|| Err(Error::UnknownHandoff(id.to_owned())), rows::handoff)
    }

    fn claim(&self, handoff: &str, claimant: &str, span: Duration) -> Result<Claim> {
        validate::id(claimant)?;
        let values: Values<'_> = &[&name(handoff), &claimant, &self.now(), &to_millis(span)];
        let rows = self.rows(&CLAIM, values)?;
        let row = rows.first().ok_or_else(|| Error::UnknownHandoff(handoff.to_owned()))?;
        let record = rows::handoff(row)?;
        if !matches!(value(row, "verdict")?, "ok" | "again") {
            return Err(record.state.into_claim_error(&record.id));
        }
        let until = rows::moment(row, "claimed_until")?;
        let claimant = claimant.to_owned();
        let state = HandoffState::Claimed { by: claimant.clone(), until };
        let handoff = HandoffRecord { state, ..record };
        Ok(Claim { handoff, claimant, fence: number(row, "fence")?, until })
    }

    fn resume(&self, claim: &Claim, new: &NewConversation) -> Result<ConversationRecord> {
        validate::id(&new.id)?;
        let handoff = &claim.handoff.id;
        let (id, claimant, fence) = (name(handoff), name(&claim.claimant), to_bigint(claim.fence));
        let (window, reserve) =
            (i64::from(new.window_tokens), i64::from(new.output_reserve_tokens));
        let values: Values<'_> = &[&id, &claimant, &fence, &new.id, &window, &reserve, &self.now()];
        let rows = self.rows(&RESUME, values)?;
        let row = rows.first().ok_or_else(|| Error::UnknownHandoff(handoff.to_owned()))?;
        match value(row, "verdict")? {
            "ok" => rows::conversation(row),
            "exists" => Err(Error::Exists(new.id.clone())),
            "resumed" => {
                let into: String = value(row, "resumed_into")?;
                // The claim that resumed the hand-off was its last.
                let is_same = into == new.id && value::<i64>(row, "claim_fence")? == fence;
                if is_same && rows::exists(row)? {
                    return rows::conversation(row)?.if_begun_as(new, Some(handoff));
                }
                Err(Error::AlreadyResumed { handoff: handoff.clone(), into })
            }
            _ => Err(Error::ClaimLost(handoff.clone())),
        }
    }

    fn abandon(&self, claim: &Claim) -> Result<()> {
        let (id, claimant) = (name(&claim.handoff.id), name(&claim.claimant));
        self.rows(&ABANDON, &[&id, &claimant, &to_bigint(claim.fence)]).map(drop)
    }

    fn chain(&self, handoff: &str) -> Result<Vec<HandoffRecord>> {
        let rows = self.rows(&CHAIN, &[&name(handoff), &self.now()])?;
        if rows.is_empty() {
            return Err(Error::UnknownHandoff(handoff.to_owned()));
        }
        rows.iter().map(rows::handoff).collect()
    }

    fn handoffs(&self, conversation: &str, limit: u64) -> Result<Vec<HandoffRecord>> {
        // Request at least one row, which shows that the conversation exists.
        let values: Values<'_> = &[&name(conversation), &self.now(), &to_bigint(limit.max(1))];
        let rows = self.rows(&LIST_HANDOFFS, values)?;
        let first =
            rows.first().ok_or_else(|| Error::UnknownConversation(conversation.to_owned()))?;
        if limit == 0 || !rows::exists(first)? {
            return Ok(Vec::new());
        }
        rows.iter().map(|row| rows::handoff_with(row, Vec::new())).collect()
    }

    fn latest(&self, conversation: &str) -> Result<Option<String>> {
        let rows = self.rows(&LATEST, &[&name(conversation), &self.now()])?;
        value(
            rows.first().ok_or_else(|| Error::UnknownConversation(conversation.to_owned()))?,
            "id",
        )
    }

    fn expire(&self) -> Result<ExpiryStats> {
        self.database.block_on(async {
            for _ in 0..EXPIRE_TRIES {
                match self.try_to_expire().await {
                    Err(Failure::Conflict(_)) => {}
                    other => return other.map_err(Failure::into_error),
                }
            }
            Err(Error::Busy)
        })
    }
}

/// Returns the values `$1` to `$4` of the statements that check a lease.
fn lease_values(lease: &Lease) -> (&str, &str, i64, i64) {
    let (id, holder) = (name(&lease.conversation), name(&lease.holder));
    (id, holder, to_bigint(lease.fence), i64::from(lease.epoch))
}

/// Returns the row of a statement with [`leased!`](super::statements), or an error if the lease was
/// not valid.
fn check_written<'a>(rows: &'a [Row], lease: &Lease) -> Result<&'a Row> {
    let id = &lease.conversation;
    let row = rows.first().ok_or_else(|| Error::LeaseLost(id.clone()))?;
    match value(row, "verdict")? {
        "continued" => Err(Error::continued(id, value(row, "continued_as")?)),
        "lost" => Err(Error::LeaseLost(id.clone())),
        _ => Ok(row),
    }
}
