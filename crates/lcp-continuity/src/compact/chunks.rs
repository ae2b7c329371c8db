//! Messages that are no longer shown, in runs.

use std::ops::Range;

use super::result::ArchivedChunk;
use super::select::{Selected, Work};
use crate::model::Recorded;

/// A chunk, and its messages.
pub(super) struct Archived<'a> {
    pub(super) chunk: ArchivedChunk,
    pub(super) messages: &'a [Recorded],
    /// Whether it is the memory of an earlier compaction.
    pub(super) is_memory: bool,
}

/// What is not shown, in chunks of at most `max_tokens` tokens; more only where a
/// single group has more. A chunk ends where a message is shown, at a gap in the
/// positions, and about the memory of an earlier compaction, and never within a group.
pub(super) fn chunks<'a>(
    work: &Work<'a>,
    selected: &Selected,
    max_tokens: u32,
) -> Vec<Archived<'a>> {
    let mut group_of = vec![None; work.messages.len()];
    for (group, places) in work.grouped().enumerate() {
        for &at in places {
            group_of[at] = Some(group);
        }
    }
    // The parts of groups, as ranges of messages that stand side by side.
    let mut parts: Vec<Range<usize>> = Vec::new();
    let follows = |at: usize| {
        let [before, this] = [at - 1, at].map(|at| work.messages[at].position);
        before.checked_add(1) == Some(this)
    };
    for at in (0..work.messages.len()).filter(|&at| !selected.has(at)) {
        match parts.last_mut() {
            Some(part)
                if part.end == at
                    && follows(at)
                    && group_of[at].is_some()
                    && group_of[at] == group_of[at - 1] =>
            {
                part.end = at + 1;
            }
            _ => parts.push(at..at + 1),
        }
    }
    let memory = |at: usize| work.memory == Some(at);
    let mut chunks: Vec<(Range<usize>, u32)> = Vec::new();
    for part in parts {
        let tokens = &work.tokens[part.clone()];
        let tokens = tokens.iter().copied().fold(0, u32::saturating_add);
        match chunks.last_mut() {
            Some((chunk, sum))
                if chunk.end == part.start
                    && follows(part.start)
                    && !memory(part.start)
                    && !memory(chunk.start)
                    && sum.saturating_add(tokens) <= max_tokens =>
            {
                chunk.end = part.end;
                *sum += tokens;
            }
            _ => chunks.push((part, tokens)),
        }
    }
    let archived = |(range, tokens): (Range<usize>, u32)| {
        let messages = &work.messages[range.clone()];
        let chunk = ArchivedChunk {
            first: work.messages[range.start].position,
            last: work.messages[range.end - 1].position,
            messages: u32::try_from(messages.len()).unwrap_or(u32::MAX),
            tokens,
            is_summarized: false,
        };
        Archived { chunk, messages, is_memory: memory(range.start) }
    };
    chunks.into_iter().map(archived).collect()
}
