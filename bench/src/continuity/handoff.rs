//! What it takes the processor to prepare a hand-off.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use lcp_continuity::store::MemoryStore;
use lcp_continuity::{HandoffOptions, Message, SessionContinuityService};
use lcp_driver::group_thousands;
use lcp_tokens::{Encoding, Tiktoken, TokenEstimator};
use lcp_types::BlockContent;

use super::writers::conversation;
use crate::cache::session::Session;
use crate::clock::Spent;
use crate::error::Error;
use crate::table::{Better, Row};

/// Tokens of the conversation, at least.
const TOKENS: u32 = 200_000;

/// Tokens that the directive may have.
const TARGET: u32 = 8_000;

const ROUNDS: usize = 7;

/// The best of some rounds, beside counting the conversation once.
pub(super) fn row(progress: &mut dyn FnMut(String)) -> Result<Row, Error> {
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
        let (handoff, spent) = Spent::on(|| service.prepare_handoff("a", TARGET, &options));
        handoff?;
        prepared = prepared.min(spent.alone()?);
        let texts = messages.iter().map(|message| message.message.text());
        let (count, spent) = Spent::on(|| texts.map(|text| counter.estimate(&text)).sum::<u32>());
        black_box(count);
        once = once.min(spent.alone()?);
    }
    let speed = f64::from(tokens) / prepared.as_secs_f64();
    let note = format!(
        "{} messages, {} tokens: {speed:.0} tokens a second",
        group_thousands(messages.len() as u64),
        group_thousands(u64::from(tokens))
    );
    let what = format!("a hand-off of {} tokens, prepared", group_thousands(u64::from(TOKENS)));
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    Ok(Row::named(what, Better::Lower, "ms")
        .beside_itself(milliseconds(prepared), "counting it once", milliseconds(once))
        .notes(Some(note)))
}

/// A session with an agent, in which something is decided now and then.
fn messages() -> Result<Vec<Message>, Error> {
    let mut messages = Vec::new();
    let mut call = String::new();
    for (number, block) in Session::new(400)?.blocks.into_iter().enumerate() {
        match &block.content {
            BlockContent::Conversation(turn) => {
                if let Some(id) = &turn.tool_call_id {
                    call.clone_from(&id.as_ref().to_owned());
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
