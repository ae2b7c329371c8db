//! The `lcp` command (RFC 0010): the subcommands, and the code that they share.
//!
//! The interface of this crate is the command line (`docs/cli.md`). Programs call `lcp-app`.
//! The modules are public only for the example `handoff_demo`, which uses the same flags.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | a subcommand: flags, help, output | `commands/` |
//! | flags that several subcommands have | `render_args.rs`, `budget_args.rs`, `tokenizer_args.rs`, `dedup_args.rs`, `segment_args.rs`, `prompt_cache_args.rs`, `output_args.rs`, `property_args.rs`, `session_args.rs`, `gateway_args.rs`, `summary_args.rs`, `converter_args.rs` |
//! | exit codes, color, errors and warnings | `output.rs`; wrong command lines: `arguments.rs` |
//! | standard output; the clipboard | `files.rs`; `clipboard.rs` |
//! | progress bars; tables | `progress.rs`; `table.rs` |
//! | signals | `signals.rs`; for the agent that `run` started: `agent_process.rs` |
//! | events of the libraries | `log.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "an error is a message, a hint and an exit code"
)]

#[cfg(feature = "proxy")]
mod agent_process;
#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod budget_args;
mod clipboard;
#[doc(hidden)]
pub mod commands;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod converter_args;
#[doc(hidden)]
pub mod dedup_args;
#[doc(hidden)]
pub mod files;
#[cfg(feature = "proxy")]
#[doc(hidden)]
pub mod gateway_args;
#[doc(hidden)]
pub mod help;
#[cfg(feature = "log")]
#[doc(hidden)]
pub mod log;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod output_args;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod prompt_cache_args;
#[doc(hidden)]
pub mod property_args;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod query_args;
#[doc(hidden)]
pub mod render_args;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod segment_args;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod session_args;
mod signals;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod summary_args;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod tokenizer_args;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

pub use commands::Command;
use lcp_app::{Error, interrupt};
use output::Output;

/// The result of a command.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Pack LLM context and render it within a token budget
#[derive(Debug, Parser)]
#[command(name = "lcp", version, arg_required_else_help = true, max_term_width = 100)]
#[command(help_template = help::template(), after_help = help::EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect()).into()
}

/// Runs the command with these arguments, of which the first is the name of the program. Returns the
/// exit code. `--help`, `--version` and Ctrl-C end the process.
pub fn run(arguments: Vec<OsString>) -> u8 {
    signals::handle();
    let cli: Cli = match arguments::parse(arguments) {
        Ok(cli) => cli,
        Err((error, output)) => return output.fail(&error),
    };
    let done = cli.output.start_log().and_then(|()| cli.command.run(&cli.output));
    cli.output.warn_deferred();
    // During an interrupt, this thread must neither print errors that the interrupt caused nor exit
    // with their code. The handler ends the process.
    while interrupt::is_ending() {
        std::thread::park();
    }
    match done {
        Ok(()) => cli.output.code_of_agent(),
        Err(error) => cli.output.fail(&error),
    }
}
