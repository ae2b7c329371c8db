//! The command `hook`: a hook that an agent calls.

use std::io::{IsTerminal as _, Read as _};
use std::panic::{self, AssertUnwindSafe};

use lcp_app::config::ConfigSource;
use lcp_app::hook::{self, Event};
use lcp_app::{Error, ErrorKind};

use crate::output::Output;
use crate::{Result, files};

/// The maximum size of the input in bytes. Agents send a few hundred.
const INPUT_BYTES_MAX: u64 = 1 << 20;

/// Serve a hook of an agent
///
/// Agents call it with JSON on standard input. `pre-compact` and `session-end` store the session;
/// `session-start` restores what a compaction may have lost: tasks, decisions and files, word for word. A
/// failure prints nothing and has the exit code 0; --verbose prints it. `lcp setup` registers the hooks.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp hook session-end < event.json
  lcp --verbose hook pre-compact < event.json")]
pub struct Args {
    /// Event: session-start, pre-compact or session-end
    // Another event is no error: an exit code of 2 would stop the agent. Nor is a missing one.
    event: Option<String>,
}

/// Prints the answer to the agent.
///
/// # Errors
///
/// Returns an error if there is no event, and standard input is a terminal.
pub fn run(args: &Args, output: &Output) -> Result {
    let Some(event) = &args.event else {
        if std::io::stdin().is_terminal() {
            return Err(Error::new(ErrorKind::Usage, "missing argument: EVENT")
                .with_hint("pass session-start, pre-compact or session-end"));
        }
        output.note("there is no event");
        return Ok(());
    };
    let Some(event) = Event::from_name(event) else {
        output.note(format!("there is no hook for {event:?}"));
        return Ok(());
    };
    panic::set_hook(Box::new(|_| {}));
    let answer = panic::catch_unwind(AssertUnwindSafe(|| answer(event)));
    let _ = panic::take_hook();
    let answer = answer.unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the hook panicked")));
    // Only a whole answer is printed.
    let printed = answer.and_then(|text| files::write_stdout(text.as_bytes()));
    if let Err(error) = printed {
        output.note(format!("the hook failed: {error}"));
    }
    Ok(())
}

fn answer(event: Event) -> Result<String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(Error::new(ErrorKind::Usage, "standard input is a terminal"));
    }
    let mut input = Vec::new();
    let read = stdin.lock().take(INPUT_BYTES_MAX).read_to_end(&mut input);
    read.map_err(|error| Error::io("read", "standard input", &error))?;
    hook::run(event, &input, &ConfigSource::Nearest)
}
