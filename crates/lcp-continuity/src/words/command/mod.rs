//! Summaries of any program.

mod filter;
mod group;
mod input;
mod run;
mod running;

use std::ffi::OsString;
use std::time::Duration;

use super::summary::checked;
use super::{Summarizer, SummaryError, SummaryRequest};
pub use filter::CommandFilter;

/// Asks a program for the summary: a model's command line, a script (RFC 0007 §6).
///
/// The program reads the conversation from standard input, as text: a paragraph
/// `[role] …` for each message, before them `[earlier summary] …` if there is one. A
/// line within that begins with `[` has a space before it, so that nothing which was
/// said passes for another message. The environment says what is asked for:
/// `LCP_TARGET_TOKENS` is a number, `LCP_SUMMARY_LEVEL` one of `full`, `detailed`,
/// `brief`, `tags`. What it writes to standard output, without the white space
/// around it, is the summary.
///
/// It need not read its input. When it ends, or is stopped, on Unix all that it
/// started is stopped with it; but what has left its process group is not.
///
/// ```
/// use lcp_continuity::words::{CommandSummarizer, Summarizer};
///
/// let summarizer = CommandSummarizer::new("summarise", ["--short"]);
/// assert_eq!(summarizer.name(), "summarise");
/// ```
#[derive(Clone, Debug)]
pub struct CommandSummarizer {
    filter: CommandFilter,
}

/// Bounds on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOptions {
    /// How long it may take until it ends: 60 seconds.
    pub timeout: Duration,
    /// Bytes that it may write to standard output: 1 MiB.
    pub max_output_bytes: usize,
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(60), max_output_bytes: 1 << 20 }
    }
}

impl CommandSummarizer {
    /// Runs `program` with these arguments, without a shell. Its name in reports is
    /// the name of its file.
    pub fn new(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        Self { filter: CommandFilter::new(program, args) }
    }

    /// Runs a line by the shell: `sh -c` on Unix, `cmd /C` on Windows. The line is its
    /// name in reports.
    pub fn shell(command_line: impl Into<OsString>) -> Self {
        Self { filter: CommandFilter::shell(command_line) }
    }

    /// This, within these bounds.
    #[must_use]
    pub fn with_options(self, options: CommandOptions) -> Self {
        Self { filter: self.filter.with_options(options) }
    }

    /// What runs the program: a clone of it stops what this has started.
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
        let input = input::text(request.before, request.messages);
        let output = self.filter.run(input, &variables)?;
        checked(self.name(), output.trim().to_owned(), request)
    }

    fn name(&self) -> &str {
        self.filter.name()
    }
}
