//! The `lcp` command (RFC 0010): its subcommands, and what they have in common.
//!
//! The interface of this crate is the command line (`docs/cli.md`). Programs call `lcp-app`.
//! Modules are public for the example `handoff_demo`, which has the flags of the command.
//!
//! # Source files
//!
//! | topic | files |
//! |---|---|
//! | a subcommand: flags, help, output | `commands/` |
//! | flags that several subcommands have | `render_args.rs`, `budget_args.rs`, `tokenizer_args.rs`, `dedup_args.rs`, `prompt_cache_args.rs`, `output_args.rs`, `session_args.rs`, `summary_args.rs` |
//! | exit codes, color, errors and warnings | `output.rs`; wrong command lines: `arguments.rs` |
//! | standard output | `files.rs` |
//! | progress bars; tables | `progress.rs`; `table.rs` |
//! | Ctrl-C | `lib.rs` |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![allow(
    clippy::missing_errors_doc,
    clippy::must_use_candidate,
    reason = "an error is a message, a hint and an exit code"
)]

#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod budget_args;
#[doc(hidden)]
pub mod commands;
#[doc(hidden)]
pub mod dedup_args;
#[doc(hidden)]
pub mod files;
#[doc(hidden)]
pub mod help;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod output_args;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod prompt_cache_args;
#[doc(hidden)]
pub mod render_args;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod session_args;
#[cfg(feature = "full")]
#[doc(hidden)]
pub mod summary_args;
#[doc(hidden)]
pub mod table;
#[doc(hidden)]
pub mod tokenizer_args;

use std::process::ExitCode;

use clap::Parser;

pub use commands::Command;
use lcp_app::{Error, interrupt};
use output::Output;

/// The exit code after Ctrl-C, as shells have it.
const INTERRUPTED: i32 = 130;

/// What a command ends with.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

/// Put what a model should see into packs, and render them within a token budget
#[derive(Debug, Parser)]
#[command(name = "lcp", version, arg_required_else_help = true, max_term_width = 100)]
#[command(help_template = help::template())]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    output: Output,
}

/// Runs the command that the arguments of this process say.
pub fn main() -> ExitCode {
    install_interrupt_handler();
    let cli: Cli = match arguments::parse() {
        Ok(cli) => cli,
        Err((error, output)) => return output.fail(&error),
    };
    let done = cli.command.run(&cli.output);
    cli.output.warn_deferred();
    // What this thread would report of work that was stopped is no news, and its exit code is not
    // that of Ctrl-C.
    while interrupt::is_ending() {
        std::thread::park();
    }
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => cli.output.fail(&error),
    }
}

/// Ends this process on Ctrl-C, after its temporary files are removed.
fn install_interrupt_handler() {
    // Where no handler can be set, the system ends the process in its own way.
    let _ = ctrlc::set_handler(|| interrupt::clean_up(|| std::process::exit(INTERRUPTED)));
}
