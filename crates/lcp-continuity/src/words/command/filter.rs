//! A program that makes one text of another.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::running::Running;
use super::{CommandOptions, run};
use crate::words::SummaryError;

/// Characters of a name in reports.
const NAME_CHARS: usize = 80;

/// A program that reads a text from standard input and writes another to standard
/// output, within bounds on its time and its answer (RFC 0007 §6, RFC 0010 §4).
///
/// It need not read its input. When it ends, or is stopped, on Unix all that it started
/// is stopped with it; but what has left its process group is not.
///
/// ```
/// use lcp_continuity::words::CommandFilter;
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
    running: Arc<Running>,
}

/// What is run.
#[derive(Clone, Debug)]
enum Program {
    /// A program with its arguments.
    Direct(OsString, Vec<OsString>),
    /// A line for the shell of the system.
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
        let name = shown(Path::new(&program).file_name().unwrap_or(&program));
        let args = args.into_iter().map(Into::into).collect();
        Self::of(Program::Direct(program, args), name)
    }

    /// Runs a line by the shell: `sh -c` on Unix, `cmd /C` on Windows. The line is its
    /// name in reports.
    pub fn shell(command_line: impl Into<OsString>) -> Self {
        let line = command_line.into();
        let name = shown(&line);
        Self::of(Program::Shell(line), name)
    }

    fn of(program: Program, name: String) -> Self {
        Self { program, name, options: CommandOptions::default(), running: Arc::default() }
    }

    /// This, within these bounds.
    #[must_use]
    pub fn with_options(mut self, options: CommandOptions) -> Self {
        self.options = options;
        self
    }

    /// The name in reports.
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

    /// What the program makes of `input`, with these variables in its environment.
    ///
    /// # Errors
    ///
    /// A program that cannot be started, takes too long, writes too much, fails, or
    /// answers with what is no UTF-8.
    pub fn run(&self, input: String, variables: &[(&str, &str)]) -> Result<String, SummaryError> {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        let program = || self.name.clone();
        let output = run::run(command, input, self.options, Arc::clone(&self.running));
        let output = output.map_err(|failure| match failure {
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
        String::from_utf8(output).map_err(|error| SummaryError::NotUtf8 {
            program: program(),
            at: error.utf8_error().valid_up_to(),
        })
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
