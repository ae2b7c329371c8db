//! The subcommands: a file each.

pub mod append;
pub mod budget;
pub mod cat;
pub mod completions;
pub mod count;
pub mod decode;
pub mod dedup;
pub mod diff;
pub mod encode;
pub mod export;
pub mod handoff;
pub mod import;
pub mod inspect;
pub mod man;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod merge;
pub mod pack;
pub mod recover;
pub mod render;
pub mod report;
pub mod resume;
pub mod stats;
pub mod store;
pub mod track;
pub mod unrender;
pub mod validate;

use crate::Result;
use crate::failure::Output;

/// A subcommand and its flags.
#[derive(Debug, clap::Subcommand)]
#[expect(missing_docs, reason = "each is described where it is")]
pub enum Command {
    Pack(pack::Args),
    Render(render::Args),
    Report(report::Args),
    Budget(budget::Args),
    Count(count::Args),
    Encode(encode::Args),
    Decode(decode::Args),
    Unrender(unrender::Args),
    Validate(validate::Args),
    Dedup(dedup::Args),
    Merge(merge::Args),
    Append(append::Args),
    Recover(recover::Args),
    Cat(cat::Args),
    Inspect(inspect::Args),
    Stats(stats::Args),
    Diff(diff::Args),
    Completions(completions::Args),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Args),
    Man(man::Args),
    Track(track::Args),
    Handoff(handoff::Args),
    Resume(resume::Args),
    Store(store::Args),
    Import(import::Args),
    Export(export::Args),
}

impl Command {
    /// Does what is asked.
    pub fn run(&self, output: &Output) -> Result {
        match self {
            Self::Pack(args) => pack::run(args, output),
            Self::Render(args) => render::run(args, output),
            Self::Report(args) => report::run(args, output),
            Self::Budget(args) => budget::run(args, output),
            Self::Count(args) => count::run(args, output),
            Self::Encode(args) => encode::run(args, output),
            Self::Decode(args) => decode::run(args, output),
            Self::Unrender(args) => unrender::run(args, output),
            Self::Validate(args) => validate::run(args, output),
            Self::Dedup(args) => dedup::run(args, output),
            Self::Merge(args) => merge::run(args, output),
            Self::Append(args) => append::run(args, output),
            Self::Recover(args) => recover::run(args, output),
            Self::Cat(args) => cat::run(args, output),
            Self::Inspect(args) => inspect::run(args, output),
            Self::Stats(args) => stats::run(args, output),
            Self::Diff(args) => diff::run(args, output),
            Self::Completions(args) => completions::run(args),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(args, output),
            Self::Man(args) => man::run(args, output),
            Self::Track(args) => track::run(args, output),
            Self::Handoff(args) => handoff::run(args, output),
            Self::Resume(args) => resume::run(args, output),
            Self::Store(args) => store::run(args, output),
            Self::Import(args) => import::run(args, output),
            Self::Export(args) => export::run(args, output),
        }
    }
}
