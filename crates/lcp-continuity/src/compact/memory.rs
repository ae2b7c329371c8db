//! The memory of messages that are no longer shown.

use lcp_driver::segments::CompressionLevel;
use lcp_tokens::{IncrementalCounter, TokenEstimator};
use lcp_types::Role;

use super::selection::Chunk;
use super::{CompactionRequest, CompactionWarning, MemoryMessage};
use crate::extract::{ExtractiveSummarizer, SummaryError, SummaryRequest, summarize_or_builtin};
use crate::model::{AnchorKind, AnchorPoint, Message};

/// The first line of a memory.
pub const MEMORY_HEADING: &str = "[Persistent Memory]";

/// The smallest useful size of a summary.
const SUMMARY_TOKENS_MIN: u32 = 16;
/// The line before the summary of an earlier memory.
const BEFORE: &str = "Remembered from before:";
/// An estimate of the tokens of the line before a summary.
const LEAD_TOKENS: u32 = 10;

/// Returns whether a message begins like a memory. It need not be one, because anyone can write
/// such a message.
pub(crate) fn begins_like_memory(message: &Message) -> bool {
    let text = message.text();
    let rest = text.strip_prefix(MEMORY_HEADING);
    message.role() == Role::System && rest.is_some_and(|rest| rest.starts_with('\n'))
}

/// Writes the memory: the anchors, then the summaries of the chunks, oldest first.
///
/// Anchors are ordered by binding kind, importance and position. If not all summaries fit, the
/// earlier memory is summarized first, then the newest chunks. Returns `None` if the memory is
/// empty or nothing fits.
pub(super) fn write(
    request: &CompactionRequest<'_>,
    mut anchors: Vec<&AnchorPoint>,
    chunks: &mut [Chunk<'_>],
    max_tokens: u32,
    warnings: &mut Vec<CompactionWarning>,
) -> Option<MemoryMessage> {
    let mut text = BoundedText::new(request.counter, max_tokens);
    anchors.sort_by(|a, b| {
        let binding = b.kind.is_binding().cmp(&a.kind.is_binding());
        binding.then(b.importance.total_cmp(&a.importance))
    });
    for anchor in anchors {
        if !text.push(&format!("\n{}{}", anchor_mark(anchor.kind), anchor.text)) {
            let AnchorPoint { id, kind, text, .. } = anchor.clone();
            warnings.push(CompactionWarning::AnchorLeftOut { id, kind, text });
        }
    }
    let mut summaries = SummaryWriter { request, text, warnings, failure: None };
    summaries.add(chunks);
    summaries.text.finish()
}

fn anchor_mark(kind: AnchorKind) -> String {
    format!("- {}: ", kind.title())
}

/// Returns the text of an earlier memory after its anchors.
fn without_anchors(memory: &str) -> &str {
    let said = memory.strip_prefix(MEMORY_HEADING).unwrap_or(memory).trim_start_matches('\n');
    if !AnchorKind::ALL.iter().any(|kind| said.starts_with(&anchor_mark(*kind))) {
        return said;
    }
    let mut at = 0;
    for line in said.split_inclusive('\n') {
        if is_summary_lead(line.trim_end_matches('\n')) {
            break;
        }
        at += line.len();
    }
    &said[at..]
}

fn is_summary_lead(line: &str) -> bool {
    let is_place = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let places = line.strip_suffix(':').unwrap_or_default();
    let one = places.strip_prefix("Message ").is_some_and(is_place);
    let run = places.strip_prefix("Messages ").and_then(|places| places.split_once(" to "));
    line == BEFORE || one || run.is_some_and(|(first, last)| is_place(first) && is_place(last))
}

struct SummaryWriter<'a> {
    request: &'a CompactionRequest<'a>,
    text: BoundedText<'a>,
    warnings: &'a mut Vec<CompactionWarning>,
    /// The error that made the summarizer unusable. It is not called again.
    failure: Option<SummaryError>,
}

impl SummaryWriter<'_> {
    fn add(&mut self, chunks: &mut [Chunk<'_>]) {
        let fit = self.text.remaining_tokens() / (SUMMARY_TOKENS_MIN + LEAD_TOKENS);
        let fit = chunks.len().min(usize::try_from(fit).unwrap_or(usize::MAX));
        let mut order: Vec<usize> = (0..chunks.len()).rev().collect();
        order.sort_by_key(|&at| !chunks[at].is_memory);
        let mut has_room = vec![false; chunks.len()];
        for &at in &order[..fit] {
            has_room[at] = true;
        }
        let mut to_do = u32::try_from(fit).unwrap_or(u32::MAX);
        for (archived, has_room) in chunks.iter_mut().zip(has_room) {
            let mut is_summarized = false;
            if has_room {
                let share = self.text.remaining_tokens() / to_do.max(1);
                to_do -= 1;
                is_summarized = self.add_summary(archived, share);
            }
            archived.report.is_summarized = is_summarized;
            if !is_summarized && archived.report.tokens > 0 {
                let (first, last) = (archived.report.first, archived.report.last);
                self.warnings.push(CompactionWarning::NotSummarized { first, last });
            }
        }
    }

    /// Adds the summary of a chunk, with at most `share` tokens. Returns whether the chunk is
    /// covered by the memory.
    fn add_summary(&mut self, archived: &Chunk<'_>, share: u32) -> bool {
        let (first, last) = (archived.report.first, archived.report.last);
        let lead = match archived.messages {
            _ if archived.is_memory => format!("\n{BEFORE}\n"),
            [_] => format!("\nMessage {first}:\n"),
            _ => format!("\nMessages {first} to {last}:\n"),
        };
        let target_tokens = share.saturating_sub(self.text.cost(&lead));
        if target_tokens < SUMMARY_TOKENS_MIN {
            return false;
        }
        let text = archived.messages[0].message.text();
        let before = archived.is_memory.then(|| without_anchors(&text));
        if before.is_some_and(|before| before.trim().is_empty()) {
            // The earlier memory contains only anchors.
            return true;
        }
        let summary = self.summarize(archived, before, target_tokens);
        let summary = summary.trim_end();
        if summary.is_empty() || self.text.push(&format!("{lead}{summary}")) {
            return !summary.is_empty();
        }
        // Token counts do not add up exactly where two texts are joined.
        let mut tokens = target_tokens;
        while tokens > SUMMARY_TOKENS_MIN / 2 {
            tokens -= (tokens / 8).max(1);
            let start = self.request.counter.truncate_to(summary, tokens).trim_end();
            if !start.is_empty() && self.text.push(&format!("{lead}{start}")) {
                self.warnings.push(CompactionWarning::SummaryCut { first, last });
                return true;
            }
        }
        false
    }

    fn summarize(
        &mut self,
        archived: &Chunk<'_>,
        before: Option<&str>,
        target_tokens: u32,
    ) -> String {
        let (first, last) = (archived.report.first, archived.report.last);
        let request = SummaryRequest {
            messages: if before.is_some() { &[] } else { archived.messages },
            before,
            target_tokens,
            level: CompressionLevel::Brief,
            counter: self.request.counter,
        };
        let builtin = ExtractiveSummarizer;
        let (summary, error) = match &self.failure {
            None => summarize_or_builtin(self.request.summarizer, &request),
            Some(failure) => {
                let (summary, _) = summarize_or_builtin(&builtin, &request);
                (summary, Some(failure.clone()))
            }
        };
        if let Some(error) = error {
            // Do not wait again for a summarizer that is unavailable.
            if !matches!(error, SummaryError::Empty(_) | SummaryError::OverTarget { .. }) {
                self.failure = Some(error.clone());
            }
            self.warnings.push(CompactionWarning::SummarizerFailed { first, last, error });
        }
        summary
    }
}

/// A text with a maximum token count.
struct BoundedText<'c> {
    written: String,
    counter: IncrementalCounter<&'c dyn TokenEstimator>,
    max_tokens: u32,
}

impl<'c> BoundedText<'c> {
    fn new(counter: &'c dyn TokenEstimator, max_tokens: u32) -> Self {
        let mut counter = IncrementalCounter::new(counter);
        counter.push(MEMORY_HEADING);
        Self { written: MEMORY_HEADING.to_owned(), counter, max_tokens }
    }

    fn remaining_tokens(&self) -> u32 {
        self.max_tokens.saturating_sub(self.counter.count())
    }

    fn cost(&self, more: &str) -> u32 {
        self.counter_with(more).count().saturating_sub(self.counter.count())
    }

    fn push(&mut self, more: &str) -> bool {
        let counter = self.counter_with(more);
        let fits = counter.count() <= self.max_tokens;
        if fits {
            self.counter = counter;
            self.written.push_str(more);
        }
        fits
    }

    fn counter_with(&self, more: &str) -> IncrementalCounter<&'c dyn TokenEstimator> {
        let mut counter = self.counter.clone();
        counter.push(more);
        counter
    }

    fn finish(self) -> Option<MemoryMessage> {
        let tokens = self.counter.count();
        let says_anything = self.written.len() > MEMORY_HEADING.len();
        says_anything.then(|| MemoryMessage { message: Message::system(self.written), tokens })
    }
}
