//! Stores to test, each in a separate schema.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lcp_continuity::ManualClock;
use lcp_continuity::store::{
    Lease, NewConversation, NewHandoff, NewMessage, PostgresOptions, PostgresStore, Store,
};
use lcp_testkit::Postgres;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls};

use crate::conformance::Harness;

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

/// A schema of the server that the tests share.
pub(crate) struct Schema {
    pub(crate) url: String,
    pub(crate) options: PostgresOptions,
}

impl Schema {
    /// Returns a schema that does not exist yet, or `None` if there is no server.
    pub(crate) fn new() -> Option<Self> {
        Some(Self::on(&Postgres::shared()?.url()))
    }

    pub(crate) fn on(url: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // A server from the environment may have schemas of an earlier run.
        let now = lcp_continuity::Timestamp::now().0;
        let schema = format!("test \"{now}\" {}.{number}", std::process::id());
        let options = PostgresOptions { schema, pool_size: 4, ..PostgresOptions::default() };
        Self { url: url.to_owned(), options }
    }

    /// Adds an option to the URL.
    pub(crate) fn set(&mut self, option: &str) {
        let sign = if self.url.contains('?') { '&' } else { '?' };
        self.url = format!("{}{sign}{option}", self.url);
    }

    pub(crate) fn open(&self) -> PostgresStore {
        PostgresStore::open_with(&self.url, &self.options).unwrap()
    }

    /// Returns the name, quoted for SQL.
    pub(crate) fn quoted(&self) -> String {
        format!("\"{}\"", self.options.schema.replace('"', "\"\""))
    }

    /// Runs SQL on the tables without the store.
    pub(crate) fn execute(&self, sql: &str) {
        Direct::to(&self.url).execute(&format!("SET search_path TO {}; {sql}", self.quoted()));
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        // Only a server from the environment outlives the tests.
        if std::env::var_os("LCP_TEST_POSTGRES").is_some() && !std::thread::panicking() {
            let sql = format!("DROP SCHEMA IF EXISTS {} CASCADE", self.quoted());
            Direct::to(&self.url).execute(&sql);
        }
    }
}

/// A connection that does not belong to a store.
pub(crate) struct Direct {
    runtime: Runtime,
    client: Client,
}

impl Direct {
    pub(crate) fn to(url: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).unwrap();
        runtime.spawn(async { connection.await.ok() });
        Self { runtime, client }
    }

    pub(crate) fn execute(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap();
    }

    /// Returns the number that a query returns.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        self.runtime.block_on(self.client.query_one(sql, &[])).unwrap().get(0)
    }
}

struct Shared {
    schema: Schema,
    clock: Arc<ManualClock>,
    /// Handles are opened on first use and reused, because each has connections.
    handles: [OnceLock<Arc<PostgresStore>>; 4],
    given: AtomicU32,
}

impl Harness for Shared {
    fn store(&self) -> Arc<dyn Store> {
        let number = self.given.fetch_add(1, Ordering::Relaxed) as usize;
        let handle = &self.handles[number % self.handles.len()];
        handle.get_or_init(|| Arc::new(self.schema.open())).clone()
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn fresh(&self) -> Box<dyn Harness> {
        Box::new(shared(Schema::on(&self.schema.url)))
    }

    // Each case waits for the server several thousand times.
    fn random_cases(&self) -> u32 {
        16
    }
}

fn shared(mut schema: Schema) -> Shared {
    let clock = Arc::new(ManualClock::default());
    schema.options.clock = Some(clock.clone());
    Shared { schema, clock, handles: Default::default(), given: AtomicU32::new(0) }
}

/// Returns the harness for the shared cases, or `None` without a server.
pub(crate) fn harness() -> Option<Box<dyn Harness>> {
    Some(Box::new(shared(Schema::new()?)))
}

pub(crate) fn window(id: &str) -> NewConversation {
    NewConversation { id: id.into(), window_tokens: 200_000, output_reserve_tokens: 8_000 }
}

pub(crate) fn message(text: &str) -> NewMessage {
    NewMessage { body: text.into(), tokens: 1 }
}

pub(crate) fn handoff(id: &str) -> NewHandoff {
    NewHandoff {
        id: id.into(),
        previous: None,
        messages: 0,
        pack: format!("pack of {id}").into_bytes(),
        status: None,
    }
}

/// Begins a conversation, and takes its lease for a minute.
pub(crate) fn begun(store: &PostgresStore, id: &str) -> Lease {
    store.begin(&window(id)).unwrap();
    store.lease(id, "holder", MINUTE).unwrap()
}
