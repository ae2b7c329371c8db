//! A pool of connections that repeats statements after conflicts.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Object, Pool, RecyclingMethod};
use lcp_store::runtime::OwnedRuntime;
use tokio_postgres::config::SslMode;
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Row};

use super::PostgresOptions;
use super::address::{Address, tls_connector};
use super::error::Failure;
use super::statements::{Statement, quote_identifier};
use crate::store::error::{Error, Result};

/// The maximum number of times that a conflicting statement is sent.
const RETRIES_MAX: u32 = 12;

/// The delay before a statement is first repeated. It doubles each time, up to 64 times this value.
const RETRY_BACKOFF: Duration = Duration::from_millis(2);

/// The time that the client waits in addition to the server's timeout, so that the server answers
/// first.
const CLIENT_TIMEOUT_MARGIN: Duration = Duration::from_secs(5);

pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A database that can be called from any thread.
pub(super) struct Database {
    // Declared before the runtime, so that it is dropped first.
    pool: Pool,
    runtime: OwnedRuntime,
    answer_timeout: Duration,
    /// The location, without the password.
    pub(super) location: String,
}

impl Database {
    /// Creates a pool of connections to `address` without connecting yet.
    pub(super) fn connect(address: Address, options: &PostgresOptions) -> Result<Self> {
        let (settings, location) = (settings(options), address.location());
        let set_up = Hook::async_fn(move |client: &mut deadpool_postgres::ClientWrapper, _| {
            let settings = settings.clone();
            Box::pin(
                async move { client.batch_execute(&settings).await.map_err(HookError::Backend) },
            )
        });
        let fast = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = if address.config.get_ssl_mode() == SslMode::Disable {
            Manager::from_config(address.config, NoTls, fast)
        } else {
            let tls = tls_connector(address.root_certificate.as_deref())?;
            Manager::from_config(address.config, tls, fast)
        };
        let pool = Pool::builder(manager)
            .max_size(options.pool_size.max(1))
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .wait_timeout(Some(options.statement_timeout))
            .create_timeout(Some(options.connect_timeout))
            .post_create(set_up)
            .build()
            .map_err(|error| Error::Io(error.to_string()))?;
        Ok(Self {
            pool,
            runtime: OwnedRuntime::new("lcp-postgres")
                .map_err(|error| Error::Io(error.to_string()))?,
            answer_timeout: options.statement_timeout.saturating_add(CLIENT_TIMEOUT_MARGIN),
            location,
        })
    }

    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Returns a connection. An error message includes the location.
    pub(super) async fn connection(&self) -> Result<Object, Failure> {
        match self.pool.get().await.map_err(Failure::from) {
            Err(Failure::Final(Error::Io(reason))) => {
                let reason = format!("{}: {reason}", self.location);
                Err(Failure::Final(Error::Io(reason)))
            }
            other => other,
        }
    }

    /// Runs `work`, and closes its connection if it exceeds the timeout.
    pub(super) async fn bounded<T>(
        &self,
        client: &mut Option<Object>,
        work: impl AsyncFnOnce(&mut Object) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut own = match client.take() {
            Some(own) => own,
            None => self.connection().await?,
        };
        match tokio::time::timeout(self.answer_timeout, work(&mut own)).await {
            Ok(Err(Failure::Broken(error))) => {
                drop(Object::take(own));
                Err(Failure::Broken(error))
            }
            Ok(done) => {
                *client = Some(own);
                done
            }
            Err(_) => {
                drop(Object::take(own));
                let reason = "the database did not answer in time".to_owned();
                Err(Failure::Final(Error::Io(reason)))
            }
        }
    }

    /// Sends a statement. Repeats it after a conflict, and once after a broken connection if it is
    /// repeatable.
    pub(super) fn rows(&self, statement: &Statement, values: Values<'_>) -> Result<Vec<Row>> {
        self.block_on(self.send(statement, values))
    }

    pub(super) fn row(&self, statement: &Statement, values: Values<'_>) -> Result<Row> {
        let missing = || Error::Io("the database returned no row".to_owned());
        self.rows(statement, values)?.into_iter().next().ok_or_else(missing)
    }

    async fn send(&self, statement: &Statement, values: Values<'_>) -> Result<Vec<Row>> {
        let mut may_repeat = statement.is_repeatable;
        let mut lock = None;
        let mut client = None;
        for conflict in 0..RETRIES_MAX {
            let mut answer = self.attempt(&mut client, statement.sql, values, lock).await;
            if may_repeat && matches!(answer, Err(Failure::Broken(_))) {
                may_repeat = false;
                answer = self.attempt(&mut client, statement.sql, values, lock).await;
            }
            match answer {
                Ok(rows) if lock.is_none() && statement.lock.is_some() && is_stale(&rows) => {
                    lock = statement.lock;
                }
                Ok(rows) => return Ok(rows),
                Err(Failure::Conflict(_)) => {
                    tokio::time::sleep(RETRY_BACKOFF * (1 << conflict.min(6))).await;
                }
                Err(failure) => return Err(failure.into_error()),
            }
        }
        Err(Error::Busy)
    }

    /// Sends a statement. If `lock` is given, it is sent first, in the same transaction.
    async fn attempt(
        &self,
        client: &mut Option<Object>,
        sql: &str,
        values: Values<'_>,
        lock: Option<&str>,
    ) -> Result<Vec<Row>, Failure> {
        self.bounded(client, async |client| {
            let Some(lock) = lock else {
                let statement = client.prepare_cached(sql).await?;
                return Ok(client.query(&statement, values).await?);
            };
            let transaction = client.transaction().await?;
            let statement = transaction.prepare_cached(lock).await?;
            transaction.query(&statement, &values[..1]).await?;
            let statement = transaction.prepare_cached(sql).await?;
            let rows = transaction.query(&statement, values).await?;
            transaction.commit().await?;
            Ok(rows)
        })
        .await
    }
}

fn is_stale(rows: &[Row]) -> bool {
    let verdict = rows.first().and_then(|row| row.try_get::<_, &str>("verdict").ok());
    verdict == Some("stale")
}

fn settings(options: &PostgresOptions) -> String {
    let schema = quote_identifier(&options.schema);
    // A timeout of 0 would mean no limit.
    let timeout = options.statement_timeout.as_millis().clamp(1, 2_147_483_647);
    format!(
        "SET search_path TO {schema}, pg_temp;\
         SET statement_timeout TO {timeout};\
         SET idle_in_transaction_session_timeout TO {timeout};\
         SET default_transaction_isolation TO 'read committed';\
         SET default_transaction_deferrable TO off;\
         SELECT set_config('synchronous_commit', 'on', false)\
         WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');"
    )
}
