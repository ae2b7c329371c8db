//! The tokens of messages.

use std::collections::BTreeMap;

use lcp_tokens::TokenEstimator;
use lcp_transcripts::{ExportResult, ExportedMessage};
use rayon::prelude::*;

/// Tokens of a message in addition to its texts.
const MESSAGE_TOKENS: u64 = 4;
/// Tokens of a request in addition to its messages.
const HISTORY_TOKENS: u64 = 3;

/// A counter of messages that remembers those of a complete export, because the exports of plans
/// contain many of them.
pub(super) struct MessageCounts<'m> {
    estimator: &'m dyn TokenEstimator,
    /// The texts and their counts by the first block of the message.
    known: BTreeMap<Option<&'m usize>, (&'m str, u32)>,
}

impl<'m> MessageCounts<'m> {
    /// Creates a counter from the known `counts` of a complete export ([`message_token_counts`]).
    pub(super) fn new(
        complete: &'m ExportResult,
        counts: &[u32],
        estimator: &'m dyn TokenEstimator,
    ) -> Self {
        let known = complete.messages.iter().zip(counts);
        let known =
            known.map(|(message, count)| (message.blocks.first(), (&*message.text, *count)));
        Self { estimator, known: known.collect() }
    }

    /// Counts the messages of an export, without the other parts of the request.
    pub(super) fn count(&self, exported: &ExportResult) -> u64 {
        count_messages(&exported.messages, |message| {
            match self.known.get(&message.blocks.first()) {
                Some((text, tokens)) if *text == message.text => *tokens,
                _ => self.estimator.estimate(&message.text),
            }
        }) + HISTORY_TOKENS
    }
}

/// Counts the tokens of the text of each message, in parallel.
pub(super) fn message_token_counts(
    exported: &ExportResult,
    estimator: &dyn TokenEstimator,
) -> Vec<u32> {
    exported.messages.par_iter().map(|message| estimator.estimate(&message.text)).collect()
}

/// Counts the tokens of a request: those of the texts of its messages ([`ExportedMessage::text`]), 4
/// for each message, 3 for the request, and those of its other parts, such as tools.
pub fn count(exported: &ExportResult, estimator: &dyn TokenEstimator) -> u64 {
    let messages = count_messages(&exported.messages, |message| estimator.estimate(&message.text));
    messages + HISTORY_TOKENS + request_extra_tokens(exported, estimator)
}

/// Counts the tokens of messages: those of their texts, and 4 for each.
pub(super) fn count_messages<'m>(
    messages: impl IntoIterator<Item = &'m ExportedMessage>,
    count: impl Fn(&ExportedMessage) -> u32,
) -> u64 {
    let tokens = messages.into_iter().map(|message| u64::from(count(message)));
    tokens.map(|tokens| tokens + MESSAGE_TOKENS).sum()
}

/// Counts the tokens of the parts of a request other than messages, such as tools, in their written
/// form ([`ExportResult::request_extras`]).
pub(super) fn request_extra_tokens(exported: &ExportResult, estimator: &dyn TokenEstimator) -> u64 {
    exported.request_extras().map_or(0, |json| estimator.estimate(&json).into())
}
