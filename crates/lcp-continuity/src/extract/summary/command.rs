//! Summaries by an external program.

use std::fmt::Write as _;

use lcp_types::{BlockContent, Status};

use super::super::{Summarizer, SummaryError, SummaryRequest};
use super::validated;
use crate::command::CommandFilter;
use crate::model::{Message, Recorded};

/// A summarizer that runs a program, such as the command line of a model or a script (RFC 0007 §6).
///
/// The program reads the conversation as text from standard input: a paragraph `[role] …` for each
/// message, preceded by `[earlier summary] …` if there is one. A further line of a message that
/// begins with `[` is indented by one space, so that a message cannot imitate another one.
///
/// The environment variable `LCP_TARGET_TOKENS` contains the token budget. `LCP_SUMMARY_LEVEL` is
/// one of `full`, `detailed`, `brief` and `tags`. The summary is the standard output of the
/// program, without leading and trailing white space.
///
/// ```
/// use lcp_continuity::command::CommandFilter;
/// use lcp_continuity::extract::{CommandSummarizer, Summarizer};
///
/// let summarizer = CommandSummarizer::new(CommandFilter::new("summarise", ["--short"]));
/// assert_eq!(summarizer.name(), "summarise");
/// ```
#[derive(Clone, Debug)]
pub struct CommandSummarizer {
    filter: CommandFilter,
}

impl CommandSummarizer {
    /// Creates a summarizer that runs this filter.
    #[must_use]
    pub const fn new(filter: CommandFilter) -> Self {
        Self { filter }
    }

    /// Returns the filter that runs the program. A clone of the filter can be used to stop it.
    #[must_use]
    pub const fn filter(&self) -> &CommandFilter {
        &self.filter
    }
}

impl Summarizer for CommandSummarizer {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let target = request.target_tokens.to_string();
        let variables =
            [("LCP_TARGET_TOKENS", target.as_str()), ("LCP_SUMMARY_LEVEL", request.level.name())];
        let input = transcript(request.before, request.messages);
        let output = self.filter.run(input, &variables)?;
        validated(self.name(), output.trim().to_owned(), request)
    }

    fn name(&self) -> &str {
        self.filter.name()
    }
}

/// Formats a conversation as described at [`CommandSummarizer`].
fn transcript(before: Option<&str>, messages: &[Recorded]) -> String {
    let mut out = String::new();
    if let Some(before) = before {
        push(&mut out, "earlier summary", before);
    }
    for recorded in messages {
        let message = &recorded.message;
        if message.block.content.is_metadata() {
            continue;
        }
        let text = message.text();
        let summary = message.block.summary.as_deref().unwrap_or_default();
        push(&mut out, &speaker(message), if text.trim().is_empty() { summary } else { &text });
    }
    out
}

fn push(out: &mut String, speaker: &str, text: &str) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = write!(out, "[{speaker}] ");
    for (at, line) in text.lines().enumerate() {
        // A message must not be able to imitate another one.
        let guard = if at > 0 && line.starts_with('[') { " " } else { "" };
        let _ = writeln!(out, "{guard}{line}");
    }
}

/// Returns the speaker of a message. For a result this is the tool, with its status unless it
/// succeeded.
fn speaker(message: &Message) -> String {
    let role = message.role();
    let role = role.name().unwrap_or("turn");
    match &message.block.content {
        BlockContent::Conversation(_) => role.to_owned(),
        BlockContent::ToolResult(result) => {
            let tool = result.tool_name.replace(['\n', '\r', ']'], " ");
            match result.status {
                Status::Ok => format!("{role} {tool}"),
                status => format!("{role} {tool}: {}", status.name().unwrap_or("unknown")),
            }
        }
        content => format!("{role} {}", content.block_type()),
    }
}
