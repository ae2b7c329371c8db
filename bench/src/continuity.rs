//! `continuity`: the cost of storing sessions durably, compared with the bare databases and with
//! `LangGraph`'s checkpoints.
//!
//! Durable writes are measured in wall time, because they wait for the disk.

mod langgraph;
mod postgres;
mod sqlite;
mod writers;

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::store::{MemoryStore, NewMessage, SqliteStore, Store};
use lcp_continuity::{HandoffOptions, Message, SessionContinuityService};
use lcp_driver::group_thousands;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::BlockContent;

use crate::cache::session::Session;
use crate::harness::{Progress, Result, at, float, milliseconds, timed};
use crate::table::{Better, Row};
pub(crate) use sqlite::{NAME, measure};
use writers::{MESSAGE_BYTES, STATUS, conversation, folder, text};

pub(crate) fn run(progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let mut rows = sqlite::rows(progress)?;
    rows.push(sqlite::reopened(progress)?);
    rows.extend(sqlite::lock_waits(progress)?);
    rows.extend(postgres::rows(progress)?);
    rows.push(handoff(progress)?);
    rows.push(forks(progress)?);
    Ok(rows)
}

/// The least number of tokens of the conversation.
const TOKENS: u32 = 200_000;

/// The largest size of the directive, in tokens.
const TARGET: u32 = 8_000;

const ROUNDS: usize = 7;

/// Compares preparing a hand-off with counting the conversation once. Takes the best of [`ROUNDS`]
/// rounds.
fn handoff(progress: &mut Progress<'_>) -> Result<Row> {
    progress("a hand-off is prepared".to_owned());
    let counter: Arc<dyn TokenEstimator> = Arc::new(Tiktoken::new(Encoding::O200kBase));
    let service = SessionContinuityService::new(Arc::new(MemoryStore::new()), Arc::clone(&counter));
    service.open(&conversation("a"))?;
    let mut tokens = 0;
    for message in messages()? {
        if tokens >= TOKENS {
            break;
        }
        tokens = service.record_message("a", message)?.total_tokens;
    }
    let messages = service.messages("a")?;

    let (mut prepared, mut once) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let options = HandoffOptions::default();
        let (handoff, time) = timed(|| service.prepare_handoff("a", TARGET, &options))?;
        handoff?;
        prepared = prepared.min(time);
        let texts = messages.iter().map(|message| message.message.text());
        let (count, time) = timed(|| texts.map(|text| counter.estimate(&text)).sum::<u32>())?;
        black_box(count);
        once = once.min(time);
    }
    let speed = f64::from(tokens) / prepared.as_secs_f64();
    let note = format!(
        "{} messages, {} tokens: {speed:.0} tokens a second",
        group_thousands(messages.len() as u64),
        group_thousands(u64::from(tokens))
    );
    let what = format!("a hand-off of {} tokens, prepared", group_thousands(u64::from(TOKENS)));
    let (prepared, once) = (milliseconds(prepared), milliseconds(once));
    Ok(Row::with_itself(what, "ms", prepared, "counting it once", once).notes(note))
}

/// Returns the messages of a session with an agent, with a decision and a plan after every 100
/// blocks.
fn messages() -> Result<Vec<Message>> {
    let mut messages = Vec::new();
    let mut call = String::new();
    for (number, block) in Session::new(400)?.blocks.into_iter().enumerate() {
        match &block.content {
            BlockContent::Conversation(turn) => {
                if let Some(id) = &turn.tool_call_id {
                    id.as_ref().clone_into(&mut call);
                }
                messages.push(Message::new(block));
            }
            BlockContent::ToolResult(_) => {
                messages.push(Message::new(block).answering(call.clone()));
            }
            _ => {}
        }
        if number % 100 == 99 {
            messages.push(Message::assistant(format!(
                "DECISION: module {number} keeps its own errors.\n\nPlan: split it\n\n\
                 - [x] write the tests\n- [ ] move the parser of module {number}\n\
                 - [ ] run the benchmarks\n"
            )));
        }
    }
    Ok(messages)
}

const FORKS: u64 = 1_000;

/// The number of messages of the forked conversation, 1 MB in all.
const MESSAGES: u64 = 1_000;

/// Compares the bytes that a fork adds to the file with the bytes of the conversation itself.
fn forks(progress: &mut Progress<'_>) -> Result<Row> {
    progress("forks".to_owned());
    let folder = folder()?;
    let path = folder.path().join("store");
    drop(SqliteStore::open(&path)?);
    let empty = size(&path)?;

    let store = SqliteStore::open(&path)?;
    store.begin(&conversation("a"))?;
    let lease = store.lease("a", "holder", Duration::from_secs(60 * 60))?;
    let messages: Vec<_> = (0..MESSAGES)
        .map(|number| NewMessage { body: text(number, MESSAGE_BYTES), tokens: 250 })
        .collect();
    store.append(&lease, &messages, Some(STATUS))?;
    drop(store);
    let unforked = size(&path)?;

    let store = SqliteStore::open(&path)?;
    for number in 0..FORKS {
        // Forks at 100 different messages, like a user who retries from several messages.
        store.fork("a", MESSAGES - number % 100, &format!("fork {number}"))?;
    }
    drop(store);
    let fork = float(size(&path)? - unforked) / float(FORKS);
    let copy = float(unforked - empty);
    let what = "SQLite, a fork of a conversation of 1 MB, of 1,000";
    Ok(Row::new(what, Better::Lower, "bytes", fork, "a copy of it", copy))
}

/// Returns the size of a store's file in bytes. The store must be closed, so that nothing is left
/// in the write-ahead log.
fn size(path: &Path) -> Result<u64> {
    Ok(path.metadata().map_err(at(path))?.len())
}
