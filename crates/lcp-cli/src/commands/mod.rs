//! The subcommands, one module each.

#[cfg(feature = "full")]
pub mod annotate;
pub mod append;
pub mod cat;
#[cfg(feature = "full")]
pub mod completions;
pub mod config;
pub mod count;
pub mod decode;
pub mod dedup;
pub mod diff;
pub mod encode;
#[cfg(feature = "full")]
pub mod export;
#[cfg(feature = "agents")]
pub mod hook;
#[cfg(feature = "full")]
pub mod import;
pub mod inspect;
#[cfg(feature = "full")]
pub mod man;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod merge;
#[cfg(feature = "full")]
pub mod pack;
pub mod parse;
#[cfg(feature = "proxy")]
pub mod proxy;
#[cfg(feature = "full")]
pub mod rank;
pub mod recover;
pub mod render;
pub mod report;
#[cfg(feature = "proxy")]
pub mod run;
#[cfg(feature = "full")]
pub mod session;
#[cfg(feature = "agents")]
pub mod setup;
pub mod stats;
#[cfg(feature = "full")]
pub mod validate;

use crate::Result;
use crate::output::Output;

/// A subcommand and its flags.
#[derive(Debug, clap::Subcommand)]
#[expect(missing_docs, reason = "each is described where it is")]
#[cfg_attr(feature = "full", expect(clippy::large_enum_variant, reason = "a process has one"))]
pub enum Command {
    #[cfg(feature = "full")]
    Pack(pack::Args),
    #[cfg(feature = "full")]
    Rank(rank::Args),
    Render(render::Args),
    Report(report::Args),
    Config(config::Args),
    Count(count::Args),
    Encode(encode::Args),
    Decode(decode::Args),
    #[command(alias = "unrender")]
    Parse(parse::Args),
    #[cfg(feature = "full")]
    Validate(validate::Args),
    Dedup(dedup::Args),
    Merge(merge::Args),
    Append(append::Args),
    #[cfg(feature = "full")]
    Annotate(annotate::Args),
    Recover(recover::Args),
    Cat(cat::Args),
    Inspect(inspect::Args),
    Stats(stats::Args),
    Diff(diff::Args),
    #[cfg(feature = "full")]
    Completions(completions::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    #[cfg(feature = "proxy")]
    Proxy(proxy::Args),
    #[cfg(feature = "proxy")]
    Run(run::Args),
    #[cfg(feature = "agents")]
    Setup(setup::Args),
    #[cfg(feature = "agents")]
    Hook(hook::Args),
    #[cfg(feature = "full")]
    Man(man::Args),
    #[cfg(feature = "full")]
    Session(session::Args),
    #[cfg(feature = "full")]
    Import(import::Args),
    #[cfg(feature = "full")]
    Export(export::Args),
    // Former names.
    #[command(hide = true)]
    Budget(config::FormerBudgetArgs),
    #[cfg(feature = "full")]
    #[command(hide = true)]
    Track(session::record::Args),
    #[cfg(feature = "full")]
    #[command(hide = true)]
    Handoff(session::handoff::Args),
    #[cfg(feature = "full")]
    #[command(hide = true)]
    Resume(session::resume::Args),
    #[cfg(feature = "full")]
    #[command(hide = true)]
    Store(session::FormerStoreArgs),
}

impl Command {
    /// Runs the subcommand.
    pub fn run(&self, output: &Output) -> Result {
        match self {
            #[cfg(feature = "full")]
            Self::Pack(args) => pack::run(args, output),
            #[cfg(feature = "full")]
            Self::Rank(args) => rank::run(args, output),
            Self::Render(args) => render::run(args, output),
            Self::Report(args) => report::run(args, output),
            Self::Config(args) => config::run(args, output),
            Self::Count(args) => count::run(args, output),
            Self::Encode(args) => encode::run(args, output),
            Self::Decode(args) => decode::run(args, output),
            Self::Parse(args) => parse::run(args, output),
            #[cfg(feature = "full")]
            Self::Validate(args) => validate::run(args, output),
            Self::Dedup(args) => dedup::run(args, output),
            Self::Merge(args) => merge::run(args, output),
            Self::Append(args) => append::run(args, output),
            #[cfg(feature = "full")]
            Self::Annotate(args) => annotate::run(args, output),
            Self::Recover(args) => recover::run(args, output),
            Self::Cat(args) => cat::run(args, output),
            Self::Inspect(args) => inspect::run(args, output),
            Self::Stats(args) => stats::run(args, output),
            Self::Diff(args) => diff::run(args, output),
            #[cfg(feature = "full")]
            Self::Completions(args) => completions::run(args),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(args, output),
            #[cfg(feature = "proxy")]
            Self::Proxy(args) => proxy::run(args, output),
            #[cfg(feature = "proxy")]
            Self::Run(args) => run::run(args, output),
            #[cfg(feature = "agents")]
            Self::Setup(args) => setup::run(args, output),
            #[cfg(feature = "agents")]
            Self::Hook(args) => hook::run(args, output),
            #[cfg(feature = "full")]
            Self::Man(args) => man::run(args, output),
            #[cfg(feature = "full")]
            Self::Import(args) => import::run(args, output),
            #[cfg(feature = "full")]
            Self::Export(args) => export::run(args, output),
            #[cfg(feature = "full")]
            Self::Session(args) => session::run(args, output),
            Self::Budget(args) => config::run_budget(args, output),
            #[cfg(feature = "full")]
            Self::Track(args) => session::record::run(args, output),
            #[cfg(feature = "full")]
            Self::Handoff(args) => session::handoff::run(args, output),
            #[cfg(feature = "full")]
            Self::Resume(args) => session::resume::run(args, output),
            #[cfg(feature = "full")]
            Self::Store(args) => session::run_store(args, output),
        }
    }
}
