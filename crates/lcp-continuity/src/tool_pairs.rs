//! Tool calls and their results, which must not be separated.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::model::Recorded;

/// Returns the newest messages that together have at most `tokens` tokens.
///
/// A call and its results are included together or not at all.
pub(crate) fn newest_within(messages: &[Recorded], tokens: u32) -> &[Recorded] {
    let all: Vec<&Recorded> = messages.iter().collect();
    let mut left = tokens;
    let mut first = messages.len();
    for group in inseparable_runs(&all).into_iter().rev() {
        let size = messages[group.clone()]
            .iter()
            .fold(0u32, |sum, message| sum.saturating_add(message.tokens));
        let Some(rest) = left.checked_sub(size) else { break };
        (left, first) = (rest, group.start);
    }
    &messages[first..]
}

/// Returns whether the message after the one at `at` is a call. The message at `at` then only
/// announces the call.
pub(crate) fn is_before_call(messages: &[Recorded], at: usize) -> bool {
    messages.get(at + 1).is_some_and(|next| next.message.is_call())
}

/// Returns, for each message that is a result, the index of the newest earlier call with its id.
pub(crate) fn answered_calls<'m>(
    messages: impl IntoIterator<Item = &'m Recorded>,
) -> Vec<Option<usize>> {
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut answered = Vec::new();
    for (at, Recorded { message, .. }) in messages.into_iter().enumerate() {
        let id = message.tool_call_id();
        if message.is_result() {
            answered.push(id.and_then(|id| calls.get(id).copied()));
        } else {
            calls.extend(id.map(|id| (id, at)));
            answered.push(None);
        }
    }
    answered
}

/// Returns the indices of the calls that have no result among these messages.
pub(crate) fn open_calls<'m>(
    messages: impl IntoIterator<Item = &'m Recorded> + Clone,
) -> Vec<usize> {
    let answered: HashSet<_> = answered_calls(messages.clone()).into_iter().flatten().collect();
    let all = messages.into_iter().enumerate();
    all.filter(|(at, recorded)| recorded.message.is_call() && !answered.contains(at))
        .map(|(at, _)| at)
        .collect()
}

/// Splits the messages into runs that must not be separated, in order.
///
/// A run holds a call, all its results, and everything between them, so parallel calls share a run.
/// A call without a result is joined to the next message. A result whose call is unknown is joined
/// to the previous message. If a call id is reused, a result belongs to the newest call with that
/// id.
pub(crate) fn inseparable_runs(messages: &[&Recorded]) -> Vec<Range<usize>> {
    // The index of the last message that belongs to the same run, for each message.
    let mut reach: Vec<usize> = (0..messages.len()).collect();
    let answered = answered_calls(messages.iter().copied());
    for ((at, Recorded { message, .. }), call) in messages.iter().copied().enumerate().zip(answered)
    {
        if message.is_result() {
            reach[call.unwrap_or(at.saturating_sub(1))] = at;
        } else if message.tool_call_id().is_some() {
            reach[at] = (at + 1).min(messages.len() - 1);
        }
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut end = 0;
    for (at, reach) in reach.into_iter().enumerate() {
        match groups.last_mut() {
            Some(group) if at < end => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
        end = end.max(reach + 1);
    }
    groups
}
