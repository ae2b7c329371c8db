//! The tool calls of a transcript, and their state (open or answered).

use std::collections::HashMap;

/// The maximum number of calls that are searched for a result without an id, from the newest back.
const OPEN_CALLS_MAX: usize = 256;

/// The calls so far. If an id is used again, it refers to the newest call.
#[derive(Debug, Default)]
pub(super) struct CallTracker {
    all: Vec<ToolCall>,
    by_id: HashMap<String, usize>,
}

#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) arguments: String,
    id: String,
    line: Option<usize>,
    /// The number of the message that contains the call.
    message: Option<u64>,
    answered: bool,
}

impl CallTracker {
    pub(super) fn record(
        &mut self,
        id: &str,
        name: &str,
        arguments: &str,
        (line, message): (Option<usize>, Option<u64>),
    ) {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        self.by_id.insert(id.clone(), self.all.len());
        self.all.push(ToolCall { name, arguments, id, line, message, answered: false });
    }

    pub(super) fn find(&self, id: &str) -> Option<&ToolCall> {
        self.all.get(*self.by_id.get(id)?)
    }

    /// Marks a call as answered. Returns `false` if the call is not open.
    pub(super) fn mark_answered(&mut self, id: &str) -> bool {
        let call = self.by_id.get(id).and_then(|at| self.all.get_mut(*at));
        call.is_some_and(|call| !std::mem::replace(&mut call.answered, true))
    }

    /// Returns the id of the oldest open call of this tool in the newest message that has one.
    pub(super) fn oldest_open(&self, name: Option<&str>) -> Option<String> {
        let newest = &self.all[self.all.len().saturating_sub(OPEN_CALLS_MAX)..];
        let is_it = |call: &&ToolCall| !call.answered && name.is_none_or(|name| name == call.name);
        let message = newest.iter().rev().find(is_it)?.message;
        let found = newest.iter().filter(is_it).find(|call| call.message == message)?;
        Some(found.id.clone())
    }

    /// Returns an id that is not in use.
    pub(super) fn new_id(&self) -> String {
        let mut number = self.all.len();
        loop {
            let id = format!("lcp_call_{number}");
            if !self.by_id.contains_key(&id) {
                return id;
            }
            number += 1;
        }
    }

    /// Returns the id and line of each open call.
    pub(super) fn open(&self) -> Vec<(String, Option<usize>)> {
        let open = self.all.iter().filter(|call| !call.answered);
        open.map(|call| (call.id.clone(), call.line)).collect()
    }
}
