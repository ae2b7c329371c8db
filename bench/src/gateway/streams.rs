//! The memory of a gateway with many streams.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use lcp_gateway::Gateway;
use serde::{Deserialize, Serialize};

use super::loopback::{Client, Stream, options, provider};
use super::sessions::Session;
use crate::harness::{Progress, Result, ask, memory_kib};
use crate::table::{Better, Row, Wanted};

/// The name of the benchmark.
pub(crate) const NAME: &str = "gateway";

const STREAMS: usize = 200;

/// The size of the requests in bytes, as that of the first request of an agent.
const BYTES: usize = 115_000;

/// The most memory, in megabytes.
const MEMORY_MAX: f64 = 100.0;

#[derive(Serialize, Deserialize)]
struct Memory {
    before: u32,
    most: u32,
}

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    progress(format!("{STREAMS} streams"));
    let Memory { before, most } = ask(NAME, &[], std::path::Path::new(""))?;
    let megabytes = |kib: u32| f64::from(kib) * 1024.0 / 1e6;
    let what = format!("memory, {STREAMS} streams");
    let row = Row::new(what, Better::Lower, "MB", megabytes(most), "-", f64::NAN);
    let note = format!(
        "process with gateway, provider and clients; {:.0} MB before the first request",
        megabytes(before)
    );
    Ok(vec![row.wants(Wanted::OwnAtMost(MEMORY_MAX)).notes(note)])
}

/// Measures this process, which also has the provider and the clients.
pub(crate) fn measure(_: &[String]) -> Result<String> {
    let folder = tempfile::tempdir()?;
    let url = provider(Stream { events: 40, pause: Duration::from_millis(100) })?;
    let bodies: Vec<Vec<u8>> = bodies()?;
    let gateway = Gateway::start(options(&url, folder.path())?)?;
    // The gateway loads its tokenizers.
    std::thread::sleep(Duration::from_secs(2));
    let before = memory_kib("VmRSS").unwrap_or_default();
    let start = Arc::new(Barrier::new(STREAMS));
    let clients: Vec<_> = bodies
        .into_iter()
        .map(|body| {
            let (start, url) = (Arc::clone(&start), gateway.url());
            std::thread::spawn(move || {
                let mut client = Client::connect(&url)?;
                start.wait();
                client.send("/v1/messages", &body)
            })
        })
        .collect();
    for client in clients {
        client.join().map_err(|_| "a client panicked")??;
    }
    let most = memory_kib("VmHWM").unwrap_or_default();
    Ok(serde_json::to_string(&Memory { before, most })?)
}

/// Returns the requests of different sessions.
fn bodies() -> Result<Vec<Vec<u8>>> {
    let session = Session::synthetic(60)?;
    let end = (0..session.len())
        .find(|end| session.body(*end).len() >= BYTES)
        .ok_or("the session is too short")?;
    let body = String::from_utf8(session.body(end))?;
    Ok((0..STREAMS)
        .map(|number| body.replace("call_", &format!("call_{number}_")))
        .map(String::into_bytes)
        .collect())
}
