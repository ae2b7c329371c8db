//! The time to the first byte of a response.

use std::time::Duration;

use lcp_gateway::Gateway;

use super::loopback::{Client, Stream, options, provider};
use super::sessions::Session;
use crate::harness::{Progress, Result, Times};
use crate::table::{Row, Wanted};

/// The size of the first request in bytes.
const BYTES: usize = 1_000_000;

/// The number of sessions, and of their requests in each of both ways.
const SESSIONS: usize = 100;
const REQUESTS: usize = 15;

/// A target that is no API of models. The gateway passes such requests on as they arrive.
const OTHER: &str = "/v1/other";

const MESSAGES: &str = "/v1/messages";

pub(super) fn rows(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let url = provider(Stream { events: 0, pause: Duration::ZERO })?;
    let gateway = Gateway::start(options(&url, folder.path())?)?;
    let session = Session::synthetic(300)?;
    let first = (0..session.len())
        .find(|end| session.body(*end).len() >= BYTES)
        .ok_or("the session is too short")?;
    progress(format!("{SESSIONS} sessions from a request of {BYTES} bytes on"));
    let bodies = (first..=first + REQUESTS).map(|end| String::from_utf8(session.body(end)));
    let bodies = bodies.collect::<Result<Vec<String>, _>>()?;
    let mut client = Client::connect(&gateway.url())?;
    let (mut edited, mut passed, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for session in 0..SESSIONS {
        for (number, body) in bodies.iter().enumerate() {
            // Calls of other sessions have other ids.
            let body = body.replace("call_", &format!("call_{session}_"));
            if number == 0 {
                unknown.push(client.send(MESSAGES, body.as_bytes())?);
                continue;
            }
            // Each comes first in half of the pairs.
            for target in if number % 2 == 0 { [MESSAGES, OTHER] } else { [OTHER, MESSAGES] } {
                let time = client.send(target, body.as_bytes())?;
                let times = if target == MESSAGES { &mut edited } else { &mut passed };
                times.push(time);
            }
        }
    }
    let (edited, passed, unknown) = (Times::new(edited), Times::new(passed), Times::new(unknown));
    let row = |what: &str, own, other| Row::with_itself(what, "ms", own, "rewriting off", other);
    let what = "first byte, 1 MB request";
    Ok(vec![
        row(&format!("{what}, p99"), edited.quantile(0.99), passed.quantile(0.99))
            .wants(Wanted::RatioAtMost(2.0)),
        row(&format!("{what}, median"), edited.median(), passed.median()),
        row(&format!("{what}, of a session that is not known"), unknown.median(), passed.median()),
    ])
}
