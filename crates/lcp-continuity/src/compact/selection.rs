//! Selection of the messages that stay in the window, and division of the others into chunks.

use std::borrow::Cow;
use std::ops::Range;

use lcp_tokens::TokenEstimator;
use lcp_types::Role;

use super::{ArchivedChunk, CompactionWarning};
use crate::model::Recorded;

/// The messages of a conversation with their token counts, divided into inseparable groups.
pub(super) struct CountedMessages<'a> {
    pub(super) messages: &'a [Recorded],
    pub(super) tokens: Vec<u32>,
    /// The index of the memory of an earlier compaction.
    pub(super) memory: Option<usize>,
    prompts: Vec<usize>,
    /// The indices of the messages except the prompts and the memory.
    history: Vec<usize>,
    /// Inseparable groups, as ranges of `history`.
    groups: Vec<Range<usize>>,
}

pub(super) struct Selection {
    shown: Vec<bool>,
    pub(super) room: u32,
    pub(super) warning: Option<CompactionWarning>,
}

impl<'a> CountedMessages<'a> {
    pub(super) fn new(
        messages: &'a [Recorded],
        memory: Option<u64>,
        counter: &dyn TokenEstimator,
    ) -> Self {
        let count = |recorded: &Recorded| match recorded.message.text().as_ref() {
            "" => 0,
            text => counter.estimate(text),
        };
        let is_system = |at: &usize| messages[*at].message.role() == Role::System;
        let (system, history): (Vec<_>, Vec<_>) = (0..messages.len()).partition(is_system);
        let is_memory = |at: &usize| Some(messages[*at].position) == memory;
        let (memory, prompts): (Vec<_>, Vec<_>) = system.into_iter().partition(is_memory);
        let said: Vec<&Recorded> = history.iter().map(|&at| &messages[at]).collect();
        Self {
            messages,
            tokens: messages.iter().map(count).collect(),
            memory: memory.first().copied(),
            prompts,
            groups: crate::tool_pairs::inseparable_runs(&said),
            history,
        }
    }

    pub(super) fn total_tokens(&self) -> u32 {
        sum(self.tokens.iter().copied())
    }

    /// Returns the tokens of the messages that always stay.
    pub(super) fn minimum_tokens(&self) -> u32 {
        let newest = self.groups.last().map(|group| self.group_messages(group));
        sum(self.prompts.iter().chain(newest.into_iter().flatten()).map(|&at| self.tokens[at]))
    }

    pub(super) fn groups(&self) -> impl DoubleEndedIterator<Item = &[usize]> {
        self.groups.iter().map(|group| self.group_messages(group))
    }

    fn group_messages(&self, group: &Range<usize>) -> &[usize] {
        &self.history[group.clone()]
    }

    /// Selects the messages to show in `room` tokens, with up to `memory` tokens set aside for the
    /// memory.
    pub(super) fn select(&self, room: u32, memory: u32) -> Selection {
        let mut selected =
            Selection { shown: vec![false; self.messages.len()], room, warning: None };
        let mut groups = self.groups().rev();
        for &at in self.prompts.iter().chain(groups.next().unwrap_or_default()) {
            selected.shown[at] = true;
        }
        if let Some(at) = self.newest_user_message()
            && !selected.shown[at]
            && !selected.add(&self.tokens, &[at], 0)
        {
            let position = self.messages[at].position;
            selected.warning = Some(CompactionWarning::UserMessageArchived { position });
        }
        let memory = memory.min(selected.room);
        while let Some(group) = groups.next()
            && selected.add(&self.tokens, group, memory)
        {}
        selected
    }

    fn newest_user_message(&self) -> Option<usize> {
        let is_users = |at: &usize| {
            let message = &self.messages[*at].message;
            message.role() == Role::User && !message.is_result()
        };
        self.history.iter().copied().rev().find(is_users)
    }
}

impl Selection {
    pub(super) fn has(&self, at: usize) -> bool {
        self.shown[at]
    }

    pub(super) fn texts<'a>(
        &self,
        work: &CountedMessages<'a>,
    ) -> impl Iterator<Item = Cow<'a, str>> {
        let messages = work.messages.iter().zip(&self.shown);
        messages.filter(|(_, shown)| **shown).map(|(recorded, _)| recorded.message.text())
    }

    /// Returns the shown system prompts and the other shown messages.
    pub(super) fn recorded(&self, work: &CountedMessages<'_>) -> (Vec<Recorded>, Vec<Recorded>) {
        let recorded = |places: &[usize]| {
            let shown = places.iter().filter(|&&at| self.shown[at]);
            let recorded =
                |&at: &usize| Recorded { tokens: work.tokens[at], ..work.messages[at].clone() };
            shown.map(recorded).collect()
        };
        (recorded(&work.prompts), recorded(&work.history))
    }

    /// Shows these messages if they fit and leave at least `leave` tokens. Returns whether they are
    /// shown.
    fn add(&mut self, tokens: &[u32], places: &[usize], leave: u32) -> bool {
        let cost = sum(places.iter().filter(|&&at| !self.shown[at]).map(|&at| tokens[at]));
        let fits = cost <= self.room.saturating_sub(leave);
        if fits {
            self.room -= cost;
            for &at in places {
                self.shown[at] = true;
            }
        }
        fits
    }
}

fn sum(tokens: impl Iterator<Item = u32>) -> u32 {
    tokens.fold(0, u32::saturating_add)
}

pub(super) struct Chunk<'a> {
    pub(super) report: ArchivedChunk,
    pub(super) messages: &'a [Recorded],
    pub(super) is_memory: bool,
}

/// Divides the hidden messages into chunks of at most `max_tokens` tokens. A single group that is
/// larger forms a chunk of its own.
///
/// A chunk ends at a shown message, at a gap in the positions, and before and after the memory of
/// an earlier compaction. It never ends within a group.
pub(super) fn archive<'a>(
    work: &CountedMessages<'a>,
    selected: &Selection,
    max_tokens: u32,
) -> Vec<Chunk<'a>> {
    let mut group_of = vec![None; work.messages.len()];
    for (group, places) in work.groups().enumerate() {
        for &at in places {
            group_of[at] = Some(group);
        }
    }
    // The hidden parts of groups, as ranges of adjacent messages.
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
        let report = ArchivedChunk {
            first: work.messages[range.start].position,
            last: work.messages[range.end - 1].position,
            messages: u32::try_from(messages.len()).unwrap_or(u32::MAX),
            tokens,
            is_summarized: false,
        };
        Chunk { report, messages, is_memory: memory(range.start) }
    };
    chunks.into_iter().map(archived).collect()
}
