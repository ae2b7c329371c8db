//! Extractive summaries, which select sentences and need no model.

mod command;
mod fit;
mod line;
mod lines;
mod score;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use lcp_driver::segments::CompressionLevel;

pub use command::CommandSummarizer;
use fit::BoundedSummary;
use line::{Line, PieceRef};

use super::{Summarizer, SummaryError, SummaryRequest};

/// The built-in summarizer, which selects sentences by rules (RFC 0007 §6). It needs no model and
/// always gives the same summary for the same input.
///
/// The summary has one line per message, in order: `user: …`, `assistant: …`,
/// `read_file: 120 lines (error): …`. Sentences are quoted with white space reduced to single
/// spaces. ` … ` separates sentences that are not adjacent, and ` […]` marks a truncated sentence.
/// The lines of the earlier summary come first and get at most half of the budget.
///
/// | level | contents |
/// |---|---|
/// | Full | as much as fits, including the first and last lines of results |
/// | Detailed | at most three sentences per message; failed results in one line |
/// | Brief | the goal, the newest turns, decisions and results |
/// | Tags | paths and identifiers |
///
/// For a message whose block has a summary, that summary replaces the content at Brief and Tags,
/// and for results also at Detailed.
///
/// The summary never exceeds the budget, with any token estimator. It is empty only if no message
/// has content, or if not even a few characters fit. Run time is linear in the size of the
/// messages.
///
/// ```
/// use lcp_continuity::extract::{ExtractiveSummarizer, Summarizer, SummaryRequest};
/// use lcp_continuity::{Message, Recorded};
/// use lcp_driver::segments::CompressionLevel;
/// use lcp_tokens::HeuristicEstimator;
///
/// let messages = ["Fix the parser.", "Is it done?"].map(Message::user);
/// let recorded = messages.map(|message| Recorded { position: 0, epoch: 0, tokens: 4, message });
/// let summary = ExtractiveSummarizer.summarize(&SummaryRequest {
///     messages: &recorded,
///     before: None,
///     target_tokens: 20,
///     level: CompressionLevel::Detailed,
///     counter: &HeuristicEstimator,
/// })?;
/// assert_eq!(summary, "user: Fix the parser.\nuser: Is it done?");
/// # Ok::<(), lcp_continuity::extract::SummaryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtractiveSummarizer;

impl Summarizer for ExtractiveSummarizer {
    /// Never fails. The summary is empty if the messages have no content.
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        Ok(extract(request))
    }

    fn name(&self) -> &'static str {
        "extractive"
    }
}

fn extract(request: &SummaryRequest<'_>) -> String {
    let parts = |level| match level {
        CompressionLevel::Tags => terms::term_lines(request),
        _ => [
            request.before.map(|text| lines::earlier_lines(text, level)).unwrap_or_default(),
            lines::message_lines(request.messages, level),
        ],
    };
    let says = |parts: &[Vec<Line>; 2]| parts.iter().any(|lines| !lines.is_empty());
    // If a level has no content, use the next more detailed one.
    let mut fuller = CompressionLevel::ALL.into_iter().rev().filter(|it| *it <= request.level);
    let found = fuller.find_map(|level| Some((level, parts(level))).filter(|(_, it)| says(it)));
    let Some((level, parts)) = found else { return String::new() };
    // Use only one sentence in that case.
    let most = if level == request.level { usize::MAX } else { 1 };
    let [mut earlier, mut newer] = parts;
    let share = if newer.is_empty() { request.target_tokens } else { request.target_tokens / 2 };
    let mut fit = BoundedSummary::new(request.counter);
    let [earlier_ranks, newer_ranks] = ranks(&[&earlier, &newer], most);
    fit.add(&mut earlier, earlier_ranks, share);
    fit.add(&mut newer, newer_ranks, request.target_tokens);
    fit.text
}

/// Returns the positions of the pieces of both parts, the best first, at most `most` of each. Of
/// duplicates only the best is included, and the earlier summary is preferred.
fn ranks(parts: &[&[Line]; 2], most: usize) -> [Vec<PieceRef>; 2] {
    let mut seen = HashSet::new();
    parts.map(|lines| {
        let mut places: Vec<PieceRef> = lines
            .iter()
            .enumerate()
            .flat_map(|(line, of)| (0..of.pieces.len()).map(move |piece| (line, piece)))
            .collect();
        // Among equal scores, prefer the newer line, and within a line the earlier piece.
        places.sort_by_key(|&(line, piece)| {
            (-lines[line].pieces[piece].score, usize::MAX - line, piece)
        });
        places.retain(|&(line, piece)| seen.insert(lines[line].key(piece)));
        places.truncate(most);
        places
    })
}

/// Returns the summary of `summarizer`. If that is not usable, returns the summary of
/// [`ExtractiveSummarizer`](super::ExtractiveSummarizer) and the error.
///
/// This function counts the tokens of the summary itself. The summary never exceeds the budget, and
/// is empty only if the messages have no content.
///
/// ```
/// use lcp_continuity::extract::{
///     Summarizer, SummaryError, SummaryRequest, summarize_or_builtin,
/// };
/// use lcp_continuity::{Message, Recorded};
/// use lcp_driver::segments::CompressionLevel;
/// use lcp_tokens::HeuristicEstimator;
///
/// /// Never says anything.
/// struct Silent;
///
/// impl Summarizer for Silent {
///     fn summarize(&self, _: &SummaryRequest<'_>) -> Result<String, SummaryError> {
///         Ok(String::new())
///     }
///     fn name(&self) -> &str {
///         "silent"
///     }
/// }
///
/// let message = Message::user("Fix the parser.");
/// let (summary, why) = summarize_or_builtin(&Silent, &SummaryRequest {
///     messages: &[Recorded { position: 0, epoch: 0, tokens: 4, message }],
///     before: None,
///     target_tokens: 20,
///     level: CompressionLevel::Detailed,
///     counter: &HeuristicEstimator,
/// });
/// assert_eq!(summary, "user: Fix the parser.");
/// assert_eq!(why, Some(SummaryError::Empty("silent".into())));
/// ```
pub fn summarize_or_builtin(
    summarizer: &dyn Summarizer,
    request: &SummaryRequest<'_>,
) -> (String, Option<SummaryError>) {
    let answer = summarizer
        .summarize(request)
        .and_then(|summary| validated(summarizer.name(), summary, request));
    match answer {
        Ok(summary) => (summary, None),
        Err(why) => {
            let summary = extract(request);
            // An empty summary of messages without content is not a failure.
            let nothing = summary.is_empty() && matches!(why, SummaryError::Empty(_));
            (summary, (!nothing).then_some(why))
        }
    }
}

/// Returns the summary if it is usable: not empty, and within the budget.
fn validated(
    name: &str,
    summary: String,
    request: &SummaryRequest<'_>,
) -> Result<String, SummaryError> {
    let (name, target) = (name.to_owned(), request.target_tokens);
    if summary.trim().is_empty() {
        return Err(SummaryError::Empty(name));
    }
    match request.counter.recount(&summary) {
        tokens if tokens > target => Err(SummaryError::OverTarget { name, tokens, target }),
        _ => Ok(summary),
    }
}
