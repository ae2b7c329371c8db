//! A summary from whatever there is.

use super::super::{Summarizer, SummaryError, SummaryRequest};

/// The summary of `summarizer`, or where it has none that may be used that of
/// [`ExtractiveSummarizer`](super::ExtractiveSummarizer), and why.
///
/// What it gives is counted here: it is never longer than the target, and empty only
/// if there was nothing to be said.
///
/// ```
/// use lcp_continuity::words::{
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
/// assert_eq!(why, Some(SummaryError::Empty { name: "silent".into() }));
/// ```
pub fn summarize_or_builtin(
    summarizer: &dyn Summarizer,
    request: &SummaryRequest<'_>,
) -> (String, Option<SummaryError>) {
    let answer = summarizer
        .summarize(request)
        .and_then(|summary| checked(summarizer.name(), summary, request));
    match answer {
        Ok(summary) => (summary, None),
        Err(why) => {
            let summary = super::extract(request);
            // Silence about nothing is no failure.
            let nothing = summary.is_empty() && matches!(why, SummaryError::Empty { .. });
            (summary, (!nothing).then_some(why))
        }
    }
}

/// A summary that may be used: it says something, within the target.
pub(in super::super) fn checked(
    name: &str,
    summary: String,
    request: &SummaryRequest<'_>,
) -> Result<String, SummaryError> {
    let (name, target) = (name.to_owned(), request.target_tokens);
    if summary.trim().is_empty() {
        return Err(SummaryError::Empty { name });
    }
    match request.counter.recount(&summary) {
        tokens if tokens > target => Err(SummaryError::OverTarget { name, tokens, target }),
        _ => Ok(summary),
    }
}
