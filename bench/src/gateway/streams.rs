//! The memory of a gateway with many streams.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use lcp_gateway::Gateway;
use serde::{Deserialize, Serialize};

use super::loopback::{Client, Stream, options, provider};
use super::sessions::Session;
use crate::WORKER;
use crate::harness::{Progress, Result, memory_kib};
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
    let url = provider(Stream { events: 40, pause: Duration::from_millis(100) })?;
    let mut process = Command::new(std::env::current_exe()?)
        .args([NAME, WORKER, &url])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = process.stdout.take().ok_or("the gateway has no output")?;
    let mut lines = BufReader::new(output).lines();
    let gateway = lines.next().ok_or("the gateway did not start")??;
    send_all(&gateway)?;
    // The end of its input ends the gateway.
    drop(process.stdin.take());
    let Memory { before, most } = serde_json::from_str(&lines.next().ok_or("no figures")??)?;
    process.wait()?;
    let megabytes = |kib: u32| f64::from(kib) * 1024.0 / 1e6;
    let what = format!("memory, {STREAMS} streams");
    let row = Row::new(what, Better::Lower, "MB", megabytes(most), "-", f64::NAN);
    let note = format!("{:.0} MB before the first request", megabytes(before));
    Ok(vec![row.wants(Wanted::OwnAtMost(MEMORY_MAX)).notes(note)])
}

/// Sends the requests at the same time, and waits for all responses.
fn send_all(gateway: &str) -> Result<()> {
    let start = Arc::new(Barrier::new(STREAMS));
    let clients: Vec<_> = bodies()?
        .into_iter()
        .map(|body| {
            let (start, url) = (Arc::clone(&start), gateway.to_owned());
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
    Ok(())
}

/// Runs a gateway until the end of the standard input. Returns the memory that it needed.
pub(crate) fn measure(arguments: &[String]) -> Result<String> {
    let provider = arguments.first().ok_or("the gateway needs the URL of a provider")?;
    let folder = tempfile::tempdir()?;
    let gateway = Gateway::start(options(provider, folder.path())?)?;
    // The gateway loads its tokenizers.
    std::thread::sleep(Duration::from_secs(2));
    let before = memory_kib("VmRSS").unwrap_or_default();
    println!("{}", gateway.url());
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
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
