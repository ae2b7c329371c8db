//! `gateway`: what the gateway adds to requests, and what it changes in the bills of sessions.
//!
//! `loopback` has a provider and clients, `latency` and `streams` measure the server with them,
//! `hook` measures the hook after a compaction.
//! `sessions` makes requests, `provider` simulates the cache of a provider and what it bills, and `bills`
//! compares.

mod bills;
mod headroom;
mod hook;
mod latency;
mod loopback;
mod provider;
mod sessions;
mod streams;

use std::path::Path;

use crate::harness::{Progress, Result};
use crate::table::Row;

pub(crate) use streams::{NAME, measure};

/// The optional arguments: a folder of transcripts, and the budget of the gateway in tokens. With them, only
/// the bills of these sessions are compared.
pub(crate) const USAGE: &str = "[FOLDER of transcripts [BUDGET]]";

pub(crate) fn run(arguments: &[String], progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    if let Some(folder) = arguments.first() {
        let budget = arguments.get(1).map(|budget| budget.parse()).transpose()?;
        return bills::recorded(Path::new(folder), budget, progress);
    }
    let mut rows = latency::rows(progress)?;
    rows.extend(streams::rows(progress)?);
    rows.push(hook::row(progress)?);
    rows.extend(bills::rows(progress)?);
    Ok(rows)
}
