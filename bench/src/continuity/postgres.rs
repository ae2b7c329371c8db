//! Durable hand-offs in PostgreSQL, on a temporary server.

use std::time::Duration;

use lcp_continuity::store::{PostgresOptions, PostgresStore};
use lcp_testkit::{CountingProxy, PostgresServer};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, NoTls, Statement};

use super::langgraph::{Langgraph, compare, unmeasured};
use super::writers::{HANDOFF_BYTES, Own, text};
use crate::harness::{Contender, Progress, Result, wall_timed};
use crate::programs;
use crate::table::{Better, Row, Wanted};

const TITLE: &str = "PostgreSQL, durable hand-off of 20 KB";
const TRIPS: &str = "PostgreSQL, round trips of a hand-off";

/// Hand-offs whose round trips are counted.
const COUNTED: u32 = 50;

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress("durable hand-offs in PostgreSQL".to_owned());
    let started = PostgresServer::start().and_then(|server| {
        // Makes every commit wait for the disk.
        server.configure("fsync = on\nsynchronous_commit = on\n")?;
        Ok(server)
    });
    let server = match started {
        Ok(server) => server,
        Err(why) => {
            let row = |what| unmeasured(what, f64::NAN, "PostgreSQL", &why);
            return Ok([TITLE, TRIPS].map(row).into());
        }
    };
    let url = server.url();
    let python = programs::python_with("langgraph", progress);
    let langgraph = |url: &str| {
        let python = python.as_ref().map_err(Clone::clone)?;
        Langgraph::start(python, &["postgres", url], HANDOFF_BYTES)
    };

    let mut own = Own::begin(PostgresStore::open(&url)?, "a")?;
    let mut bare = Bare::open(&url)?;
    let mut peers = [langgraph(&url)];
    let contenders = vec![
        Contender::new("LCP", || own.commit()),
        Contender::new("tokio-postgres, one INSERT", || bare.insert()),
    ];
    let (_, mut rows) = compare(TITLE, contenders, &mut peers, "PostgresSaver")?;
    drop(peers);

    let proxy = CountingProxy::to_port(server.port())?;
    let url = url.replace(&format!(":{}/", server.port()), &format!(":{}/", proxy.port()));
    let options = PostgresOptions { pool_size: 1, ..PostgresOptions::default() };
    let mut own = Own::begin(PostgresStore::open_with(&url, &options)?, "b")?;
    let own = trips(&proxy, || own.commit().map(drop))?;
    let peer = langgraph(&url)
        .and_then(|mut peer| Ok((trips(&proxy, || peer.put(1).map(drop))?, peer.about.clone())));
    let row = |name, peer| Row::new(TRIPS, Better::Lower, "trips", own, name, peer);
    let row = match peer {
        Ok((peer, name)) => row(name, peer),
        Err(why) => row("PostgresSaver".to_owned(), f64::NAN).notes(why.to_string()),
    };
    rows.push(row.wants(Wanted::OwnAtMost(1.0)));
    Ok(rows)
}

/// Returns the average round trips of an operation, measured after its statements are prepared.
fn trips(proxy: &CountingProxy, mut once: impl FnMut() -> Result) -> Result<f64> {
    for _ in 0..10 {
        once()?;
    }
    let before = proxy.count();
    for _ in 0..COUNTED {
        once()?;
    }
    Ok(f64::from(proxy.count() - before) / f64::from(COUNTED))
}

/// A single `INSERT` of the same bytes, without any checks.
struct Bare {
    // Declared before the runtime, which drives its connection, so that it is dropped first.
    client: Client,
    runtime: Runtime,
    insert: Statement,
    written: u64,
}

impl Bare {
    fn open(url: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls))?;
        runtime.spawn(connection);
        let make = "CREATE TABLE bare (id text PRIMARY KEY, hash bytea NOT NULL, \
                    pack bytea NOT NULL)";
        runtime.block_on(client.batch_execute(make))?;
        let insert = "INSERT INTO bare (id, hash, pack) VALUES ($1, $2, $3)";
        let insert = runtime.block_on(client.prepare(insert))?;
        Ok(Self { client, runtime, insert, written: 0 })
    }

    fn insert(&mut self) -> Result<Duration> {
        self.written += 1;
        let (id, hash) = (format!("a {}", self.written), text(self.written, 32));
        let pack = text(self.written, HANDOFF_BYTES);
        wall_timed(|| {
            let insert = async { self.client.execute(&self.insert, &[&id, &hash, &pack]).await };
            Ok(self.runtime.block_on(insert)?)
        })
    }
}
