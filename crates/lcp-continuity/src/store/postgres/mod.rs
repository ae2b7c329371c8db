//! A store that machines share, in PostgreSQL.
//!
//! One rule makes it safe under `READ COMMITTED`: whatever belongs to a conversation
//! (its messages, its hand-offs) is written by a statement that locks the row of the
//! conversation first, and decides by that locked row. A statement sees other rows
//! as they were when it began, before it waited for the lock: where that matters,
//! the column `changes` of the locked row tells that something happened meanwhile,
//! and the statement is sent again, behind the lock.

mod address;
mod error;
mod migrate;
mod pool;
mod rows;
mod statements;
mod store;
mod tls;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::address::Address;
use self::pool::Database;
use super::DEFAULT_EXPIRY;
use super::error::Result;
use crate::model::Clock;

/// How a [`PostgresStore`] is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    /// The schema that everything is in, 1 to 63 bytes: `lcp_continuity`, unless told
    /// otherwise. It is made if it is not there.
    pub schema: String,
    /// Connections at a time, at least 1: 8, unless told otherwise.
    pub pool_size: usize,
    /// How long to wait for a connection: 10 seconds, unless told otherwise.
    pub connect_timeout: Duration,
    /// How long to wait for an answer, locks included: 30 seconds, unless told
    /// otherwise.
    pub statement_timeout: Duration,
    /// How long a hand-off can be resumed, and a conversation is kept after something
    /// was last recorded: [`DEFAULT_EXPIRY`], unless told otherwise.
    pub expiry: Duration,
    /// What tells the time; none, and it is the server, so that the clocks of
    /// machines do not matter.
    pub clock: Option<Arc<dyn Clock>>,
    /// Certificates (PEM) that the server's is checked against, in place of those
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

/// Conversations and hand-offs in PostgreSQL (12 or newer), for machines that share
/// them (RFC 0007 §10).
///
/// Each call of `append`, `commit`, `claim`, `resume` and `lease` is one statement, and one round trip.
/// Every session has `synchronous_commit` on at least, so that what was acknowledged
/// is durable; `fsync` is the server's to keep on. Bodies are stored once each, by
/// their BLAKE3 hash, and checked against it when they are read.
///
/// It has a runtime of its own, so it can be called from anywhere, even by a task of
/// another runtime; that task's thread then waits, which is why `spawn_blocking` is
/// the better place.
///
/// Where a connection breaks, the calls that can be repeated (see [`Store`](crate::store::Store)) are, once.
///
/// Sessions are set up when they begin: a pooler between must give whole sessions
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
    /// Opens the store in the schema `lcp_continuity` of a database. Its tables are
    /// made, or brought up to date, if need be.
    ///
    /// `url` is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, or libpq's
    /// `host=… user=…`. Its `sslmode` is honoured: `disable`; `prefer`, which it is
    /// where nothing is said: TLS if the server has it; `require`, `verify-ca` and
    /// `verify-full`: TLS only. With TLS the server's certificate, and the name in it,
    /// are checked always.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::store::Error::Io) if the database cannot be reached, [`Error::ForeignSchema`](crate::store::Error::ForeignSchema) if
    /// the schema is something else's, [`Error::TooNew`](crate::store::Error::TooNew).
    pub fn open(url: &str) -> Result<Self> {
        Self::open_with(url, &PostgresOptions::default())
    }

    /// The same, otherwise.
    ///
    /// # Errors
    ///
    /// As [`Self::open`]; [`Error::BadId`](crate::store::Error::BadId) if the schema's name cannot be one.
    pub fn open_with(url: &str, options: &PostgresOptions) -> Result<Self> {
        migrate::check_name(&options.schema)?;
        let address = Address::parse(url, options)?;
        let database = Database::connect(address, options)?;
        database.block_on(migrate::run(&database, &options.schema))?;
        Ok(Self {
            database,
            schema: options.schema.clone(),
            clock: options.clock.clone(),
            expiry: options.expiry,
        })
    }

    /// The moment now by the clock that was given; none where the server tells it.
    fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|clock| clock.now().0)
    }
}

/// Where it is, never what opens it.
impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("place", &self.database.place)
            .field("schema", &self.schema)
            .field("expiry", &self.expiry)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
