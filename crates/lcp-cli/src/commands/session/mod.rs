//! `session`: conversations are recorded, handed over and resumed; their store is listed and tidied.

mod check;
pub mod handoff;
mod list;
pub mod record;
pub mod resume;
mod show;

use std::sync::Arc;

use lcp_continuity::store::Store;
use serde_json::json;

use crate::output::Output;
use crate::session_args::StoreArgs;
use crate::tokenizer_args::ConfigArgs;
use crate::{Result, files};
use lcp_app::config::Config;
use lcp_app::sessions::failed;

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
    List(List),
    Show(Show),
    Fork(Fork),
    Expire(Expire),
    Check(Check),
}

/// Print a line for each conversation
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session list
  lcp session list --json --store sessions.sqlite")]
struct List {
    #[command(flatten)]
    place: Flags,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Print what is known of a conversation, its hand-offs and a line for each message; or
/// what became of a hand-off
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session show parser
  lcp session show h-0f1e2d3c4b5a69788796a5b4c3d2e1f0 --json")]
struct Show {
    /// The id of a conversation, or of a hand-off
    id: String,
    #[command(flatten)]
    place: Flags,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Begin a conversation that shares the first messages of another, and print its id
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session fork parser --at 12 --as parser-again")]
struct Fork {
    /// The conversation's id
    id: String,
    /// How many of its messages both have
    #[arg(long, value_name = "N")]
    at: u64,
    /// The id of the one that begins
    #[arg(long = "as", value_name = "NEW")]
    new: String,
    #[command(flatten)]
    place: Flags,
}

/// Drop what is older than `expiry_days` and needed by nothing alive, and say how much
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session expire
  lcp session expire --json")]
struct Expire {
    #[command(flatten)]
    place: Flags,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Read everything that is kept, and compare it with its hashes
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp session check --store sessions.sqlite")]
struct Check {
    #[command(flatten)]
    place: Flags,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Which store.
#[derive(Debug, clap::Args)]
struct Flags {
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    file: ConfigArgs,
}

impl Flags {
    fn open(&self) -> Result<(Config, Arc<dyn Store>)> {
        let source = self.file.source();
        let config = source.read()?;
        let store = self.store.options().open(&config, source.is_named(), false)?;
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
        match self {
            Self::List(args) => {
                let (config, store) = args.place.open()?;
                list::run(&config, &*store, args.json)
            }
            Self::Show(args) => {
                let (config, store) = args.place.open()?;
                show::run(&config, &*store, &args.id, args.json)
            }
            Self::Fork(args) => {
                let (_, store) = args.place.open()?;
                let fork = store.fork(&args.id, args.at, &args.new).map_err(failed)?;
                output.progress(format!("{} messages, epoch {}", fork.messages, fork.epoch));
                files::write(None, format!("{}\n", fork.id).as_bytes())
            }
            Self::Expire(args) => {
                let (_, store) = args.place.open()?;
                expire(&*store, args.json)
            }
            Self::Check(args) => {
                let (_, store) = args.place.open()?;
                check::run(&*store, args.json)
            }
        }
    }
}

fn expire(store: &dyn Store, as_json: bool) -> Result {
    let expired = store.expire().map_err(failed)?;
    let text = if as_json {
        let json = json!({
            "schema": "lcp.expired.v1",
            "conversations": expired.conversations,
            "handoffs": expired.handoffs,
            "bodies": expired.bodies,
        });
        files::json(&json)
    } else {
        format!(
            "dropped: {} conversations, {} hand-offs, {} bodies\n",
            expired.conversations, expired.handoffs, expired.bodies
        )
    };
    files::print(&text)
}
