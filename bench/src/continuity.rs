//! `continuity`: what it costs to keep sessions durably, beside the databases alone
//! and beside `LangGraph`'s checkpoints.
//!
//! Times of what is durable are wall time: that is what waits for a disk.
//! `docs/benchmarks.md` tells what the rows mean.

mod forks;
mod handoff;
mod langgraph;
mod lock_waits;
mod postgres;
mod race;
mod reopen;
mod sqlite;
mod writers;

use std::path::PathBuf;

use tempfile::TempDir;

pub use lock_waits::measure;

use crate::error::Error;
use crate::table::Report;

/// Its name.
pub const NAME: &str = "continuity";

/// Bytes of a hand-off's pack.
const HANDOFF_BYTES: usize = 20_000;

/// Bytes of a message.
const MESSAGE_BYTES: usize = 1_000;

/// Measures it.
///
/// # Errors
///
/// Where a store or a database refuses. A peer that is not there is told in its rows.
pub fn run(progress: &mut dyn FnMut(String)) -> Result<Report, Error> {
    let mut rows = sqlite::rows(progress)?;
    rows.push(reopen::row(progress)?);
    rows.push(lock_waits::row(progress)?);
    rows.extend(postgres::rows(progress)?);
    rows.push(handoff::row(progress)?);
    rows.push(forks::row(progress)?);
    Ok(Report { bench: NAME, rows })
}

/// A measuring process, or a peer, that did not do what it was to do.
fn failed(why: &impl ToString) -> Error {
    Error::Worker { message: why.to_string() }
}

/// A folder beside this program: where programs are built is a disk, where temporary
/// files are may be memory.
fn folder() -> Result<TempDir, Error> {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = program.parent().map_or_else(std::env::temp_dir, PathBuf::from);
    tempfile::tempdir_in(&beside).map_err(|error| Error::io("make a folder in", &beside, error))
}
