//! Runs another program as a filter, within bounds on its time and output.
//!
//! Used for summaries of conversations and of files. Knows nothing of either.

mod run;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use self::run::RunningGroups;

const NAME_CHARS: usize = 80;

/// A program that reads a text from standard input and writes another to standard
/// output, within bounds on its time and its answer (RFC 0007 §6, RFC 0010 §4).
///
/// It need not read its input. When it ends, or is stopped, on Unix all that it started
/// is stopped with it; but what has left its process group is not.
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

/// Why a program gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The program could not be started.
    #[error("{program:?} cannot be run: {reason}")]
    NotStarted {
        /// The program.
        program: String,
        /// In the words of the system.
        reason: String,
    },
    /// The program took too long, and was stopped.
    #[error("{program:?} did not answer within {seconds} s and was stopped")]
    TimedOut {
        /// The program.
        program: String,
        /// How long it had.
        seconds: u64,
    },
    /// The program failed.
    #[error("{program:?} failed ({status}){}{stderr}", if .stderr.is_empty() { "" } else { ": " })]
    Failed {
        /// The program.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it wrote to standard error.
        stderr: String,
    },
    /// The program wrote more than it may, and was stopped.
    #[error("{program:?} wrote more than {max} bytes and was stopped")]
    OutputTooLong {
        /// The program.
        program: String,
        /// Bytes that it may write.
        max: usize,
    },
    /// The answer is not UTF-8.
    #[error("the answer of {program:?} is not UTF-8 (byte {at})")]
    NotUtf8 {
        /// The program.
        program: String,
        /// The offset of the first bad byte.
        at: usize,
    },
    /// The answer is empty, where the caller needs one.
    #[error("{0} gave an empty summary")]
    Empty(String),
}

#[derive(Clone, Debug)]
enum Program {
    Direct(OsString, Vec<OsString>),
    Shell(OsString),
}

impl CommandFilter {
    /// Runs `program` with these arguments, without a shell. Its name in reports is
    /// the name of its file.
    pub fn new(
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = impl Into<OsString>>,
    ) -> Self {
        let program = program.into();
        let name = display_name(Path::new(&program).file_name().unwrap_or(&program));
        let args = args.into_iter().map(Into::into).collect();
        Self::from_program(Program::Direct(program, args), name)
    }

    /// Runs a line by the shell: `sh -c` on Unix, `cmd /C` on Windows. The line is its
    /// name in reports.
    pub fn shell(command_line: impl Into<OsString>) -> Self {
        let line = command_line.into();
        let name = display_name(&line);
        Self::from_program(Program::Shell(line), name)
    }

    fn from_program(program: Program, name: String) -> Self {
        Self { program, name, options: CommandOptions::default(), running: Arc::default() }
    }

    /// Replaces the bounds.
    #[must_use]
    pub fn with_options(mut self, options: CommandOptions) -> Self {
        self.options = options;
        self
    }

    /// Returns the name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stops what runs by this filter or a clone of it, on Unix with all that it started,
    /// and lets nothing be started by them any more: for who is interrupted and has to
    /// leave nothing behind. Elsewhere only the latter.
    pub fn stop(&self) {
        self.running.stop();
    }

    /// Returns the program's answer to `input`, with these variables in its environment.
    ///
    /// # Errors
    ///
    /// A program that cannot be started, takes too long, writes too much, fails, or
    /// answers with what is no UTF-8.
    pub fn run(&self, input: String, variables: &[(&str, &str)]) -> Result<String, CommandError> {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        let output = run::run(&self.name, command, input, self.options, Arc::clone(&self.running))?;
        String::from_utf8(output).map_err(|error| CommandError::NotUtf8 {
            program: self.name.clone(),
            at: error.utf8_error().valid_up_to(),
        })
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
    // The line as it is: `cmd` does not know the quotes that others do.
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
