//! The group `session`: commands that record, hand off, resume and compact sessions, and commands
//! for their store.

mod check;
mod compact;
pub mod handoff;
mod list;
pub mod record;
pub mod resume;
mod show;
mod usage;

use std::sync::Arc;

use lcp_continuity::store::Store;

use crate::output::Output;
use crate::session_args::StoreArgs;
use crate::tokenizer_args::ConfigArgs;
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{HandoffSettings, Sessions, expired_json, failed, open_store};
use lcp_app::tokenizer::TokenizerOptions;

/// Record sessions, hand them off, resume them, and inspect the store
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    Record(record::Args),
    Handoff(handoff::Args),
    Resume(resume::Args),
    Compact(compact::Args),
    #[command(flatten)]
    Store(StoreCommand),
}

/// Former name of the store commands of `session`
#[derive(Debug, clap::Args)]
pub struct FormerStoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// List the sessions
    #[command(after_help = "Examples:
  lcp session list
  lcp session list --json --store sessions.sqlite")]
    List(StoreQuery),
    /// Show a session with its hand-offs and messages, or the state of a hand-off
    #[command(after_help = "Examples:
  lcp session show parser
  lcp session show h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --json")]
    Show {
        /// ID of a session or a hand-off
        id: String,
        #[command(flatten)]
        query: StoreQuery,
    },
    /// Show how full the budget of a session is, with its history
    ///
    /// The budget is 80% of the window minus the output reserve. The history has a record for each
    /// answer of the model. `[context.usage]` of lcp.toml sets the levels and the warnings.
    #[command(after_help = "Examples:
  lcp session usage parser
  lcp session usage parser --json")]
    Usage {
        /// ID of the session
        id: String,
        #[command(flatten)]
        query: StoreQuery,
    },
    /// Fork a session after its first N messages, and print the new ID
    #[command(after_help = "Examples:
  lcp session fork parser --at 12 --as parser-again")]
    Fork {
        /// ID of the session to fork
        id: String,
        /// Number of messages that both sessions share
        #[arg(long, value_name = "N")]
        at: u64,
        /// ID of the new session
        #[arg(long = "as", value_name = "NEW")]
        new: String,
        #[command(flatten)]
        place: StoreLocationArgs,
    },
    /// Delete expired sessions and hand-offs
    ///
    /// They expire `expiry_days` after their last use (lcp.toml, default: 30), unless a live
    /// session or hand-off needs them. Prints the number of deleted records.
    #[command(after_help = "Examples:
  lcp session expire
  lcp session expire --json")]
    Expire(StoreQuery),
    /// Read the whole store and verify its hashes
    ///
    /// Prints a line for each problem. The exit code is 1 if there are problems.
    #[command(after_help = "Examples:
  lcp session check --store sessions.sqlite")]
    Check(StoreQuery),
}

/// The flags of the store and of the output format.
#[derive(Debug, clap::Args)]
struct StoreQuery {
    #[command(flatten)]
    place: StoreLocationArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// The flags of the store and of the settings file.
#[derive(Debug, clap::Args)]
struct StoreLocationArgs {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    file: ConfigArgs,
}

impl StoreLocationArgs {
    fn open(&self) -> Result<(Config, Arc<dyn Store>)> {
        let config = self.file.read()?;
        let store = open_store(self.store.store.as_deref(), &config, false)?;
        Ok((config, store))
    }
}

/// Runs a subcommand of `session`.
pub fn run(args: &Args, output: &Output) -> Result {
    #[cfg(feature = "agents")]
    lcp_app::hook::record_captures(output);
    match &args.command {
        SessionCommand::Record(args) => record::run(args, output),
        SessionCommand::Handoff(args) => handoff::run(args, output),
        SessionCommand::Resume(args) => resume::run(args, output),
        SessionCommand::Compact(args) => compact::run(args, output),
        SessionCommand::Store(command) => command.run(output),
    }
}

/// Runs a subcommand of the former group `store`.
pub fn run_store(args: &FormerStoreArgs, output: &Output) -> Result {
    args.command.run(output)
}

impl StoreCommand {
    fn run(&self, output: &Output) -> Result {
        let place = match self {
            Self::List(query)
            | Self::Show { query, .. }
            | Self::Usage { query, .. }
            | Self::Expire(query)
            | Self::Check(query) => &query.place,
            Self::Fork { place, .. } => place,
        };
        let (config, store) = place.open()?;
        match self {
            Self::List(query) => list::run(&config, &*store, query.json),
            Self::Show { id, query } => show::run(&config, &*store, id, query.json),
            Self::Usage { id, query } => {
                let tokenizer = TokenizerOptions::default();
                let counter = tokenizer.load(&config, None, false, output)?.estimator;
                let handoff = HandoffSettings::default();
                let sessions = Sessions::new(store, counter, &handoff, &config.continuity);
                usage::run(&sessions.with_usage(config.usage), id, query.json)
            }
            Self::Fork { id, at, new, .. } => {
                let fork = store.fork(id, *at, new).map_err(failed)?;
                let messages = lcp_driver::plural(fork.messages, "message");
                output.progress(format!("{messages}, epoch {}", fork.epoch));
                files::write(None, format!("{}\n", fork.id).as_bytes())
            }
            Self::Expire(query) => expire(&*store, query.json),
            Self::Check(query) => check::run(&*store, query.json),
        }
    }
}

fn expire(store: &dyn Store, as_json: bool) -> Result {
    let expired = store.expire().map_err(failed)?;
    let text = if as_json {
        files::json(&expired_json(&expired))
    } else {
        format!(
            "deleted {}, {}, {} {}\n",
            lcp_driver::plural(expired.conversations, "session"),
            lcp_driver::plural(expired.handoffs, "hand-off"),
            expired.bodies,
            if expired.bodies == 1 { "body" } else { "bodies" },
        )
    };
    files::print(&text)
}
