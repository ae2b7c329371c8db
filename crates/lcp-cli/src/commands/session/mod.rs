//! `session`: conversations are recorded, handed over and resumed; their store is listed and tidied.

mod check;
pub mod handoff;
mod list;
pub mod record;
pub mod resume;
mod show;

use std::sync::Arc;

use lcp_continuity::store::Store;

use crate::output::Output;
use crate::session_args::StoreArgs;
use crate::tokenizer_args::ConfigArgs;
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::{expired_json, failed, open_store};

/// Record conversations, hand them over, resume them, and look into their store
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
    #[command(flatten)]
    Store(StoreCommand),
}

/// The former group of commands about the store
#[derive(Debug, clap::Args)]
pub struct FormerStoreArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StoreCommand {
    /// Print a line for each conversation
    #[command(after_help = "Examples:
  lcp session list
  lcp session list --json --store sessions.sqlite")]
    List(StoreQuery),
    /// Print what is known of a conversation, its hand-offs and a line for each message; or
    /// what became of a hand-off
    #[command(after_help = "Examples:
  lcp session show parser
  lcp session show h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --json")]
    Show {
        /// The id of a conversation, or of a hand-off
        id: String,
        #[command(flatten)]
        query: StoreQuery,
    },
    /// Begin a conversation that shares the first messages of another, and print its id
    #[command(after_help = "Examples:
  lcp session fork parser --at 12 --as parser-again")]
    Fork {
        /// The conversation's id
        id: String,
        /// How many of its messages both have
        #[arg(long, value_name = "N")]
        at: u64,
        /// The id of the one that begins
        #[arg(long = "as", value_name = "NEW")]
        new: String,
        #[command(flatten)]
        place: StoreLocationArgs,
    },
    /// Drop what is older than `expiry_days` and needed by nothing alive, and say how much
    #[command(after_help = "Examples:
  lcp session expire
  lcp session expire --json")]
    Expire(StoreQuery),
    /// Read everything that is kept, and compare it with its hashes
    #[command(after_help = "Examples:
  lcp session check --store sessions.sqlite")]
    Check(StoreQuery),
}

/// A store, and the form of the answer.
#[derive(Debug, clap::Args)]
struct StoreQuery {
    #[command(flatten)]
    place: StoreLocationArgs,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// A store.
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

/// Runs a command of `session`.
pub fn run(args: &Args, output: &Output) -> Result {
    match &args.command {
        SessionCommand::Record(args) => record::run(args, output),
        SessionCommand::Handoff(args) => handoff::run(args, output),
        SessionCommand::Resume(args) => resume::run(args, output),
        SessionCommand::Store(command) => command.run(output),
    }
}

/// Runs a command of the former group `store`.
pub fn run_store(args: &FormerStoreArgs, output: &Output) -> Result {
    args.command.run(output)
}

impl StoreCommand {
    fn run(&self, output: &Output) -> Result {
        let place = match self {
            Self::List(query)
            | Self::Show { query, .. }
            | Self::Expire(query)
            | Self::Check(query) => &query.place,
            Self::Fork { place, .. } => place,
        };
        let (config, store) = place.open()?;
        match self {
            Self::List(query) => list::run(&config, &*store, query.json),
            Self::Show { id, query } => show::run(&config, &*store, id, query.json),
            Self::Fork { id, at, new, .. } => {
                let fork = store.fork(id, *at, new).map_err(failed)?;
                output.progress(format!("{} messages, epoch {}", fork.messages, fork.epoch));
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
            "dropped: {} conversations, {} hand-offs, {} bodies\n",
            expired.conversations, expired.handoffs, expired.bodies
        )
    };
    files::print(&text)
}
