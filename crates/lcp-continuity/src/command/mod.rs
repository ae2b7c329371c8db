//! Runs another program as a filter, with limits on its time and output.
//!
//! Used to summarize conversations and files and to convert files, but independent of both.

mod run;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use self::run::RunningGroups;

const NAME_CHARS: usize = 80;

/// The number of bytes of standard error in a message.
const SHOWN_BYTES: usize = 2 << 10;

/// A program that reads text from standard input and writes text to standard output, with limits on
/// its time and output (RFC 0007 §6, RFC 0010 §4).
///
/// The program need not read its input. On Unix, all processes that it started are stopped when it
/// ends or is stopped, except those that have left its process group.
///
/// ```
/// use lcp_continuity::command::CommandFilter;
///
/// # if cfg!(unix) {
/// let filter = CommandFilter::shell("tr a-z \"$TO\"");
/// assert_eq!(filter.run("ship".to_owned(), &[("TO", "A-Z")]).unwrap(), "SHIP");
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CommandFilter {
    program: Program,
    name: String,
    options: CommandOptions,
    running: Arc<RunningGroups>,
}

/// Limits on a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandOptions {
    /// The maximum run time. Default: 60 seconds.
    pub timeout: Duration,
    /// The maximum number of bytes of standard output. Default: 1 MiB.
    pub max_output_bytes: usize,
}

impl Default for CommandOptions {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(60), max_output_bytes: 1 << 20 }
    }
}

/// An error of running a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The program could not be started.
    #[error("cannot run {program:?}: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// The error message of the operating system.
        reason: String,
    },
    /// The program exceeded the time limit and was stopped.
    #[error("{program:?} did not finish within {seconds} s and was stopped")]
    TimedOut {
        /// The program.
        program: String,
        /// The time limit in seconds, rounded up.
        seconds: u64,
    },
    /// The program failed.
    #[error("{program:?} failed ({status}){}{}", if .stderr.is_empty() { "" } else { ": " }, last(.stderr))]
    Failed {
        /// The program.
        program: String,
        /// The exit status.
        status: String,
        /// The end of standard error, at most 64 KiB. The message shows the last 2 KiB.
        stderr: String,
    },
    /// The program exceeded the output limit and was stopped.
    #[error("{program:?} wrote more than {max} bytes and was stopped")]
    OutputTooLong {
        /// The program.
        program: String,
        /// The maximum number of bytes.
        max: usize,
    },
    /// The output is not UTF-8.
    #[error("the output of {program:?} is not UTF-8 (byte {at})")]
    NotUtf8 {
        /// The program.
        program: String,
        /// The offset of the first invalid byte.
        at: usize,
    },
    /// The output is empty although the caller requires text.
    #[error("{0} returned an empty summary")]
    Empty(String),
}

/// Formats the end of standard error as one line.
fn last(stderr: &str) -> String {
    let mut start = stderr.len().saturating_sub(SHOWN_BYTES);
    while !stderr.is_char_boundary(start) {
        start += 1;
    }
    let mut shown = String::new();
    for c in stderr[start..].trim().chars() {
        match c {
            // These characters need no escape.
            '"' | '\'' | '\\' => shown.push(c),
            c => shown.extend(c.escape_debug()),
        }
    }
    shown
}

#[derive(Clone, Debug)]
enum Program {
    Direct(OsString, Vec<OsString>),
    Shell(OsString),
}

impl CommandFilter {
    /// Creates a filter that runs `program` with these arguments, without a shell. The file name of
    /// the program is its name in reports.
    pub fn new(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let program = program.into();
        let name = display_name(Path::new(&program).file_name().unwrap_or(&program));
        let args = args.into_iter().map(Into::into).collect();
        Self::from_program(Program::Direct(program, args), name)
    }

    /// Creates a filter that runs a shell command: `sh -c` on Unix, `cmd /C` on Windows. The
    /// command line is its name in reports.
    pub fn shell(command_line: impl Into<OsString>) -> Self {
        let line = command_line.into();
        let name = display_name(&line);
        Self::from_program(Program::Shell(line), name)
    }

    fn from_program(program: Program, name: String) -> Self {
        Self { program, name, options: CommandOptions::default(), running: Arc::default() }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_options(mut self, options: CommandOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the name used in reports, which is cut to 80 characters.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        self.name = display_name(OsStr::new(name));
        self
    }

    /// Returns the name used in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Prevents this filter and its clones from starting any more programs. On Unix, it also stops
    /// their running programs and all processes these started.
    ///
    /// Use it to clean up when the calling program is interrupted.
    pub fn stop(&self) {
        self.running.stop();
    }

    /// Runs the program on `input` with these environment variables, and returns its output.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started, exceeds a limit, fails, or writes output
    /// that is not UTF-8.
    pub fn run(&self, input: String, variables: &[(&str, &str)]) -> Result<String, CommandError> {
        let variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, OsStr::new(*value))).collect();
        let output = self.run_bytes(input.into_bytes(), &variables)?;
        String::from_utf8(output).map_err(|error| CommandError::NotUtf8 {
            program: self.name.clone(),
            at: error.utf8_error().valid_up_to(),
        })
    }

    /// Runs the program like [`Self::run`], on any bytes. Its output may be any bytes too.
    ///
    /// # Errors
    ///
    /// Returns an error if the program cannot be started, exceeds a limit, or fails.
    pub fn run_bytes(
        &self,
        input: Vec<u8>,
        variables: &[(&str, &OsStr)],
    ) -> Result<Vec<u8>, CommandError> {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        run::run(&self.name, command, input, self.options, Arc::clone(&self.running))
    }

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

#[cfg(not(windows))]
fn shell(line: &OsStr) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &OsStr) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    // Pass the line unchanged, because `cmd` does not understand the usual quoting.
    command.arg("/C").raw_arg(line);
    command
}

fn display_name(name: &OsStr) -> String {
    let name = name.to_string_lossy();
    let mut shown: String = name.chars().take(NAME_CHARS).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown
}
