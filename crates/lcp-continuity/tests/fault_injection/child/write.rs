//! A writer that reports each write after the store has acknowledged it.

use std::time::Duration;

use lcp_continuity::store::{Lease, Result as Stored, Store};

use super::super::content;
use super::super::protocol::Line;
use super::Args;
use crate::Result;

/// The pause after a failure, because a stopped server comes back.
const PAUSE: Duration = Duration::from_millis(20);

pub(super) fn run(store: &dyn Store, args: &Args) -> Result {
    let mut writer = Writer { store, args, lease: None, messages: 0, handoffs: 0 };
    let mut failures = 0;
    while failures < args.failures {
        match writer.next() {
            Ok(line) => line.say()?,
            Err(error) => {
                failures += 1;
                Line::failed(Duration::ZERO, &error).say()?;
                std::thread::sleep(PAUSE);
                // The outcome of the failed write is unknown, so the state is read from the store
                // again.
                writer.lease = None;
            }
        }
    }
    Ok(())
}

struct Writer<'a> {
    store: &'a dyn Store,
    args: &'a Args,
    lease: Option<Lease>,
    /// The number of messages in the store.
    messages: u64,
    handoffs: u64,
}

impl Writer<'_> {
    /// Writes the next message or hand-off, and returns the line that reports it.
    fn next(&mut self) -> Stored<Line> {
        let Self { store, args, .. } = *self;
        let name = &args.name;
        let lease = if let Some(lease) = &self.lease {
            lease
        } else {
            self.messages = store.begin(&content::conversation(name))?.messages;
            self.lease.insert(store.lease(name, name, args.lease())?)
        };
        if self.messages == self.handoffs {
            let messages = [content::message(name, self.messages)];
            self.messages = store.append(lease, &messages, None)?;
            return Ok(Line::Message(self.messages - 1));
        }
        store.commit(lease, &content::handoff(name, self.handoffs))?;
        self.handoffs += 1;
        Ok(Line::Handoff(self.handoffs - 1))
    }
}
