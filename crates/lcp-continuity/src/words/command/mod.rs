//! Summaries of any program.

mod group;
mod input;
mod run;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::summary::checked;
use super::{Summarizer, SummaryError, SummaryRequest};

/// Characters of a name in reports.
const NAME_CHARS: usize = 80;

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
    program: Program,
    name: String,
    options: CommandOptions,
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

/// What is run.
#[derive(Clone, Debug)]
enum Program {
    /// A program with its arguments.
    Direct(OsString, Vec<OsString>),
    /// A line for the shell of the system.
    Shell(OsString),
}

impl CommandSummarizer {
    /// Runs `program` with these arguments, without a shell. Its name in reports is
    /// the name of its file.
    pub fn new(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let program = program.into();
        let name = shown(Path::new(&program).file_name().unwrap_or(&program));
        let args = args.into_iter().map(Into::into).collect();
        let program = Program::Direct(program, args);
        Self { program, name, options: CommandOptions::default() }
    }

    /// Runs a line by the shell: `sh -c` on Unix, `cmd /C` on Windows. The line is its
    /// name in reports.
    pub fn shell(command_line: impl Into<OsString>) -> Self {
        let line = command_line.into();
        let name = shown(&line);
        Self { program: Program::Shell(line), name, options: CommandOptions::default() }
    }

    /// This, within these bounds.
    #[must_use]
    pub fn with_options(mut self, options: CommandOptions) -> Self {
        self.options = options;
        self
    }

    /// What is to be started.
    fn command(&self) -> Command {
        match &self.program {
            Program::Direct(program, args) => {
                let mut command = Command::new(program);
                command.args(args);
                command
            }
            Program::Shell(line) => shell(line),
        }
    }
}

/// The shell with a line to run.
#[cfg(not(windows))]
fn shell(line: &OsStr) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

/// The shell with a line to run.
#[cfg(windows)]
fn shell(line: &OsStr) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    // The line as it is: `cmd` does not know the quotes that others do.
    command.arg("/C").raw_arg(line);
    command
}

/// A name for reports.
fn shown(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let mut shown: String = name.chars().take(NAME_CHARS).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}

impl Summarizer for CommandSummarizer {
    fn summarize(&self, request: &SummaryRequest<'_>) -> Result<String, SummaryError> {
        let mut command = self.command();
        command
            .env("LCP_TARGET_TOKENS", request.target_tokens.to_string())
            .env("LCP_SUMMARY_LEVEL", request.level.name());
        let input = input::text(request.before, request.messages);
        let program = || self.name.clone();
        let output = run::run(command, input, self.options).map_err(|failure| match failure {
            run::Failure::NotStarted(reason) => {
                SummaryError::NotStarted { program: program(), reason }
            }
            run::Failure::TimedOut => SummaryError::TimedOut {
                program: program(),
                // 300 ms are not 0 s.
                seconds: self
                    .options
                    .timeout
                    .as_millis()
                    .div_ceil(1000)
                    .try_into()
                    .unwrap_or(u64::MAX),
            },
            run::Failure::Flood => {
                SummaryError::Flood { program: program(), max: self.options.max_output_bytes }
            }
            run::Failure::Failed { status, stderr } => {
                SummaryError::Failed { program: program(), status, stderr }
            }
        })?;
        let output = String::from_utf8(output).map_err(|error| SummaryError::NotUtf8 {
            program: program(),
            at: error.utf8_error().valid_up_to(),
        })?;
        checked(&self.name, output.trim().to_owned(), request)
    }

    fn name(&self) -> &str {
        &self.name
    }
}
