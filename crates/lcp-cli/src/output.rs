//! Errors, warnings and notes of commands on standard error, and the exit codes.
//!
//! Messages contain labels, paths and contents from untrusted input. Invisible characters and
//! terminal control characters are therefore escaped here, at the place of printing, so that no
//! caller can forget it.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use lcp_app::{Error, ErrorKind, Progress, Reporter};
use lcp_driver::usage::is_debug_budget_set;
use lcp_driver::{escape_control, escape_control_lines};

#[cfg(feature = "log")]
use crate::log::LogFormat;

/// Returns the exit code of an error.
pub const fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => 2,
        ErrorKind::Malformed => 3,
        ErrorKind::OverBudget => 4,
        ErrorKind::Limit => 5,
        _ => 1,
    }
}

/// The environment variables that enable lines about the tokens used.
const DEBUG_BUDGET: [&str; 2] = ["LCP_DEBUG_BUDGET", "DEBUG_BUDGET"];

/// The heading of the flags that all commands have.
const GLOBAL: &str = "Global options";

/// The flags for messages on standard error
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Output {
    /// Suppress warnings and progress messages
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, help_heading = GLOBAL, conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colors; `auto` depends on the terminal and on `NO_COLOR`
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Print events of the libraries to standard error
    ///
    /// The environment variable `RUST_LOG` selects them, such as `info` or `lcp_driver=debug`
    /// [default: warnings, and LCP's info events].
    #[cfg(feature = "log")]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FORMAT")]
    log: Option<LogFormat>,
    /// The warnings to print at the end.
    #[arg(skip)]
    deferred: Arc<Mutex<Vec<String>>>,
    /// The exit code of the agent that this process started.
    #[arg(skip)]
    agent_code: Arc<AtomicU8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

impl Output {
    /// Returns the output settings of arguments that clap rejected. Only `--color` is used.
    pub fn from_raw_arguments(arguments: impl Iterator<Item = OsString>) -> Self {
        let arguments: Vec<_> = arguments.filter_map(|word| word.into_string().ok()).collect();
        let after = |at: usize| arguments.get(at + 1).map(String::as_str);
        let color = arguments.iter().enumerate().find_map(|(at, word)| match word.as_str() {
            "--color" => after(at),
            word => word.strip_prefix("--color="),
        });
        let color = color.and_then(|color| Color::from_str(color, false).ok());
        Self { color: color.unwrap_or_default(), ..Self::default() }
    }

    /// Starts to print events if `--log` is set.
    pub fn start_log(&self) -> Result<(), Error> {
        #[cfg(feature = "log")]
        if let Some(format) = self.log {
            return crate::log::start(format);
        }
        Ok(())
    }

    /// Prints the warnings of the gateway from now on, unless `--log` prints events, or `--quiet` is set.
    #[cfg(feature = "proxy")]
    pub fn start_gateway_log(&self) -> Result<(), Error> {
        #[cfg(feature = "log")]
        if self.log.is_none() && !self.quiet {
            return crate::log::start_gateway();
        }
        Ok(())
    }

    /// Sets the exit code to that of an agent.
    #[cfg(feature = "proxy")]
    pub fn set_code_of_agent(&self, code: u8) {
        self.agent_code.store(code, Ordering::Relaxed);
    }

    /// Returns the exit code of a command that did not fail: 0, or that of the agent.
    pub fn code_of_agent(&self) -> u8 {
        self.agent_code.load(Ordering::Relaxed)
    }

    /// Prints an error and its hint, and returns the exit code. An empty message is not printed.
    pub fn fail(&self, error: &Error) -> u8 {
        if !error.message.is_empty() {
            self.say("error", "31", &error.message);
        }
        if let Some(hint) = &error.hint {
            self.say("hint", "36", hint);
        }
        exit_code(error.kind)
    }

    /// Prints a warning, unless `--quiet` is set.
    pub fn warn(&self, message: impl Display) {
        if !self.quiet {
            self.say("warning", "33", message);
        }
    }

    /// Prints the warnings that were deferred to the end.
    pub fn warn_deferred(&self) {
        let deferred =
            std::mem::take(&mut *self.deferred.lock().unwrap_or_else(PoisonError::into_inner));
        for message in deferred {
            self.warn(message);
        }
    }

    /// Prints a note if `--verbose` is set.
    pub fn note(&self, message: impl Display) {
        if self.verbose {
            self.say("note", "36", message);
        }
    }

    /// Prints a line about the progress or the result, unless `--quiet` is set.
    pub fn progress(&self, message: impl Display) {
        if !self.quiet {
            self.print(escape_control(&message.to_string()));
        }
    }

    /// Prints requested output to standard error, as lines, even with `--quiet`.
    pub fn print(&self, message: impl Display) {
        let message = message.to_string();
        // A failure of standard error cannot be reported anywhere.
        let _ = writeln!(std::io::stderr().lock(), "{}", escape_control_lines(&message));
    }

    /// Prints lines about the tokens used to standard error, if an environment variable enables
    /// them, even with `--quiet`.
    pub fn debug_budget(&self, lines: &[String]) {
        let is_set = |name: &&str| {
            let value = std::env::var_os(name);
            is_debug_budget_set(value.as_ref().map(|value| value.to_string_lossy()).as_deref())
        };
        if DEBUG_BUDGET.iter().any(is_set) {
            for line in lines {
                self.print(line);
            }
        }
    }

    /// Returns whether output to `stream` should be colored.
    pub fn is_colored(&self, stream: &impl IsTerminal) -> bool {
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none(),
        }
    }

    /// Prints one line, with newlines escaped: a newline would look like another message.
    fn say(&self, what: &str, color: &str, message: impl Display) {
        let message = message.to_string();
        let message = escape_control(&message);
        let stderr = std::io::stderr();
        let colored = self.is_colored(&stderr);
        let mut stderr = stderr.lock();
        // A failure of standard error cannot be reported anywhere.
        let _ = if colored {
            writeln!(stderr, "\x1b[1;{color}m{what}:\x1b[0m {message}")
        } else {
            writeln!(stderr, "{what}: {message}")
        };
    }
}

impl Reporter for Output {
    fn warn(&self, message: &dyn Display) {
        Self::warn(self, message);
    }

    fn warn_at_end(&self, message: &dyn Display) {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).push(message.to_string());
    }

    fn note(&self, message: &dyn Display) {
        Self::note(self, message);
    }

    fn summary(&self, message: &dyn Display) {
        Self::progress(self, message);
    }

    fn begin(&self, task: &'static str, steps: usize) -> Box<dyn Progress + '_> {
        let bar = self.bar(task);
        bar.expect(steps);
        Box::new(bar)
    }
}
