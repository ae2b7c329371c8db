//! Summaries without a model: sentences are chosen, never written.

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

/// Chooses sentences by rules (RFC 0007 §6): the built-in, which needs no model and
/// gives the same words every time.
///
/// What it gives is lines in the order of the messages, `user: …`, `assistant: …`, `read_file: 120
/// lines (error): …`, with sentences as they were said: white space is one space, ` … ` stands
/// between sentences that do not follow one another, and ` […]` where a long one is cut. The lines
/// of the earlier summary come first; they have at most half of the target.
///
/// | level | holds |
/// |---|---|
/// | Full | whatever fits, the first and the last line of results too |
/// | Detailed | at most three sentences of a message; results that failed, in one line |
/// | Brief | the goal, the newest turns, and what was decided or done |
/// | Tags | paths and identifiers |
///
/// A message whose block has a summary of its own gives that in place of its
/// content: at Brief and Tags, results at Detailed too.
///
/// It never has a token more than the target, whatever the counter; it is empty only if no message
/// says anything, or if not even a few characters fit. The work grows with the messages.
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
    /// Never fails; empty where nothing was said.
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
    // Where a level has nothing to say, the next fuller one has.
    let mut fuller = CompressionLevel::ALL.into_iter().rev().filter(|it| *it <= request.level);
    let found = fuller.find_map(|level| Some((level, parts(level))).filter(|(_, it)| says(it)));
    let Some((level, parts)) = found else { return String::new() };
    // One sentence of it, then.
    let most = if level == request.level { usize::MAX } else { 1 };
    let [mut earlier, mut newer] = parts;
    let share = if newer.is_empty() { request.target_tokens } else { request.target_tokens / 2 };
    let mut fit = BoundedSummary::new(request.counter);
    let [earlier_ranks, newer_ranks] = ranks(&[&earlier, &newer], most);
    fit.add(&mut earlier, earlier_ranks, share);
    fit.add(&mut newer, newer_ranks, request.target_tokens);
    fit.text
}

/// The places of the pieces of both parts, the best first, at most `most` of each.
/// What is said twice is there once: where it stands best, the earlier summary first.
fn ranks(parts: &[&[Line]; 2], most: usize) -> [Vec<PieceRef>; 2] {
    let mut seen = HashSet::new();
    parts.map(|lines| {
        let mut places: Vec<PieceRef> = lines
            .iter()
            .enumerate()
            .flat_map(|(line, of)| (0..of.pieces.len()).map(move |piece| (line, piece)))
            .collect();
        // The newer of two that are worth the same; in one line the one before.
        places.sort_by_key(|&(line, piece)| {
            (-lines[line].pieces[piece].score, usize::MAX - line, piece)
        });
        places.retain(|&(line, piece)| seen.insert(lines[line].key(piece)));
        places.truncate(most);
        places
    })
}

/// Returns the summary of `summarizer`, or where it has none that may be used that of
/// [`ExtractiveSummarizer`](super::ExtractiveSummarizer), and why.
///
/// What it gives is counted here: it is never longer than the target, and empty only
/// if there was nothing to be said.
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
            // Silence about nothing is no failure.
            let nothing = summary.is_empty() && matches!(why, SummaryError::Empty(_));
            (summary, (!nothing).then_some(why))
        }
    }
}

/// Returns a summary that may be used: it says something, within the target.
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
