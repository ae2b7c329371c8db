//! `session check`: everything that is kept is read.

use lcp_continuity::SessionHandoff;
use lcp_continuity::store::{ConversationRecord, Store};
use serde_json::json;

use super::list::{self, PAGE};
use crate::{Result, files};
use lcp_app::sessions::failed;
use lcp_app::{Error, ErrorKind};

/// Problems after which the rest is not looked at.
const PROBLEMS_MAX: usize = 1_000;

/// What was read, and what was wrong with it.
#[derive(Default)]
struct CheckReport {
    conversations: u64,
    messages: u64,
    handoffs: u64,
    problems: Vec<String>,
}

pub(super) fn run(store: &dyn Store, as_json: bool) -> Result {
    let mut found = CheckReport::default();
    for record in list::all(store)? {
        found.conversations += 1;
        found.messages(store, &record);
        found.handoffs(store, &record);
    }
    let CheckReport { conversations, messages, handoffs, problems } = &found;
    let text = if as_json {
        let json = json!({
            "schema": "lcp.check.v1",
            "conversations": conversations,
            "messages": messages,
            "handoffs": handoffs,
            "problems": problems,
        });
        files::json(&json)
    } else {
        let mut lines: Vec<_> = problems.iter().map(|it| it.escape_debug().to_string()).collect();
        let count = problems.len();
        lines.push(format!(
            "{conversations} conversations, {messages} messages, {handoffs} hand-offs: {count} \
             problems\n"
        ));
        lines.join("\n")
    };
    files::print(&text)?;
    if problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, "the store is damaged [damaged]")
        .with_hint("restore it, or go on in a new one: the rest of it can be read"))
}

impl CheckReport {
    fn messages(&mut self, store: &dyn Store, record: &ConversationRecord) {
        let mut from = 0;
        while from < record.messages && self.problems.len() < PROBLEMS_MAX {
            // A page, and where that is damaged each message alone.
            for limit in [PAGE, 1] {
                match store.messages(&record.id, from, limit) {
                    Ok(page) if !page.is_empty() => {
                        from += page.len() as u64;
                        for message in &page {
                            self.messages += 1;
                            self.note(message.message().map(drop).map_err(|error| {
                                format!(
                                    "message {} of conversation {:?}: {error}",
                                    message.position, record.id
                                )
                            }));
                        }
                        break;
                    }
                    Err(error) if limit == 1 => {
                        self.problems.push(error.to_string());
                        from += 1;
                    }
                    Err(_) => {}
                    Ok(_) => return,
                }
            }
        }
    }

    fn handoffs(&mut self, store: &dyn Store, record: &ConversationRecord) {
        let listed = store.handoffs(&record.id, u64::MAX);
        for handoff in listed.unwrap_or_else(|error| {
            self.problems.push(error.to_string());
            Vec::new()
        }) {
            self.handoffs += 1;
            let read = store.handoff(&handoff.id).map_err(|error| failed(error).message);
            self.note(read.and_then(|handoff| {
                if handoff.pack.is_empty() {
                    return Ok(());
                }
                let read = SessionHandoff::from_pack(&handoff.pack);
                read.map(drop).map_err(|error| format!("hand-off {:?}: {error}", handoff.id))
            }));
        }
    }

    fn note(&mut self, checked: Result<(), String>) {
        self.problems.extend(checked.err());
    }
}
