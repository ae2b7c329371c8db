//! `torture`: stores under fire (RFC 0007 §10). Processes are killed, servers stopped,
//! disks filled; what was acknowledged must be there.

mod child;
mod content;
mod crash;
mod forks;
mod full;
mod kill;
mod lease;
mod place;
mod process;
mod queue;
mod race;
mod row;
mod said;

use std::fmt::Display;
use std::time::Instant;

use clap::ValueEnum;
use lcp_testkit::SplitMix64;

use lcp_cli::failure::{Code, Failure, Output};
use lcp_cli::{Result, files};
use place::Ground;
use row::Row;

/// Kill writers, stop servers, fill disks, and look for what was acknowledged
///
/// Each case prints what it counted and measured, and what is wanted of that. What
/// was lost or let through ends with 1; a time or a size that is missed does not.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "PostgreSQL must be built in, and needs initdb and pg_ctl:
  cargo run -p xtask --features postgres -- torture
Each case is told in docs/reliability.md.")]
pub(crate) struct Args {
    /// Only this case
    #[arg(long, value_enum, value_name = "NAME")]
    only: Option<Case>,
    /// Only stores of this kind
    #[arg(long, value_enum, default_value = "all")]
    store: Wanted,
    /// Rounds of each case, in place of its own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    rounds: Option<u64>,
    /// Few rounds, within a minute
    #[arg(long)]
    short: bool,
    /// What moments and sizes are drawn from
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

/// What this program does where `torture` starts it again.
#[derive(Debug, clap::Subcommand)]
enum Role {
    #[command(hide = true)]
    Child(child::Args),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Case {
    /// Writers are killed
    Kill,
    /// The server is stopped while others write
    Crash,
    /// There is no room left
    Full,
    /// Many want the same hand-off
    Race,
    /// Many write at once
    Queue,
    /// A writer sleeps past its lease
    Lease,
    /// A long conversation is forked a thousand times
    Forks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Wanted {
    Sqlite,
    Postgres,
    All,
}

/// What a case needs.
struct Bench<'a> {
    ground: &'a Ground,
    random: SplitMix64,
    rounds: Option<u64>,
    short: bool,
}

impl Bench<'_> {
    /// How many rounds: as many as were asked for, else the second where it is to be
    /// short.
    fn rounds(&self, long: u64, short: u64) -> u64 {
        self.rounds.unwrap_or(if self.short { short } else { long })
    }

    /// A row of a case on these stores.
    fn row(&self, case: &'static str, rounds: u64, what: impl Into<String>) -> Row {
        Row::new(case, self.ground.name(), rounds, what)
    }
}

pub(crate) fn run(args: &Args, output: &Output) -> Result {
    if let Some(Role::Child(child)) = &args.role {
        return child::run(child);
    }
    let mut rows = Vec::new();
    for ground in grounds(args.store, output)? {
        for case in Case::value_variants() {
            if args.only.is_none_or(|only| only == *case) {
                rows.extend(take(*case, &ground, args, output)?);
            }
        }
    }
    let text = if args.json {
        format!("{:#}\n", row::json(args.seed, args.short, &rows))
    } else {
        row::table(&rows)
    };
    files::write(None, text.as_bytes())?;
    match rows.iter().filter(|row| row.is_broken()).count() {
        0 => Ok(()),
        broken => Err(Failure::new(Code::Io, format!("{broken} promises were broken"))),
    }
}

/// The kinds of stores that are asked for and can be had here.
fn grounds(wanted: Wanted, output: &Output) -> Result<Vec<Ground>> {
    let mut grounds = Vec::new();
    if wanted != Wanted::Postgres {
        grounds.push(Ground::sqlite()?);
    }
    if wanted != Wanted::Sqlite {
        match Ground::postgres() {
            Ok(ground) => grounds.push(ground),
            Err(reason) if wanted == Wanted::Postgres => return Err(failed(reason)),
            Err(reason) => output.warn(format!("PostgreSQL is left out: {reason}")),
        }
    }
    Ok(grounds)
}

fn take(case: Case, ground: &Ground, args: &Args, output: &Output) -> Result<Vec<Row>> {
    let (rounds, short) = (args.rounds, args.short);
    let mut bench = Bench { ground, random: SplitMix64::new(args.seed), rounds, short };
    let start = Instant::now();
    let rows = match case {
        Case::Kill => kill::run(&mut bench)?,
        Case::Crash => crash::run(&mut bench)?,
        Case::Full => full::run(&mut bench)?,
        Case::Race => race::run(&bench)?,
        Case::Queue => queue::run(&bench)?,
        Case::Lease => lease::run(&bench)?,
        Case::Forks => forks::run(&bench)?,
    };
    if !rows.is_empty() {
        let seconds = start.elapsed().as_secs_f64();
        let name = case.to_possible_value().map(|value| value.get_name().to_owned());
        let name = name.unwrap_or_default();
        output.progress(format!("{name} on {}: {seconds:.1} s", ground.name()));
    }
    Ok(rows)
}

/// What stops a case: it says nothing of what was promised.
fn failed(reason: impl Display) -> Failure {
    Failure::new(Code::Io, reason.to_string())
}

/// What a store said where it should have done what it was asked.
fn refused(error: &lcp_continuity::store::Error) -> Failure {
    failed(format!("{error} [{}]", error.code()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use clap::Parser;

    use super::child::Work;
    use super::place::Place;
    use super::*;
    use crate::{Cli, Task};

    fn parsed(arguments: &[&str]) -> Args {
        let cli = Cli::try_parse_from(["xtask", "torture"].iter().chain(arguments)).unwrap();
        let Task::Torture(args) = cli.task else { panic!("another task") };
        args
    }

    #[test]
    fn a_child_is_told_by_arguments() {
        let url = "postgres://a:b@127.0.0.1:1/c".to_owned();
        let places = [
            Place::Sqlite(PathBuf::from("/a folder/store.sqlite")),
            Place::Postgres { url, schema: "store_1".to_owned() },
        ];
        for (place, work) in places
            .iter()
            .flat_map(|place| Work::value_variants().iter().map(move |work| (place, *work)))
        {
            let told: Vec<_> = process::Order::new(work, place, "a name").arguments();
            let told: Vec<_> = told.iter().map(|word| word.to_str().unwrap()).collect();
            let Some(Role::Child(child)) = parsed(&told[1..]).role else { panic!("no child") };
            assert_eq!((child.work(), &child.place()), (work, place));
        }
    }

    #[test]
    fn one_case_of_one_store() {
        let args = parsed(&["--only", "queue", "--store", "sqlite", "--rounds", "2"]);
        assert_eq!(
            (args.only, args.store, args.rounds),
            (Some(Case::Queue), Wanted::Sqlite, Some(2))
        );
        assert!(Cli::try_parse_from(["xtask", "torture", "--rounds", "0"]).is_err());
    }

    #[test]
    fn short_has_fewer_rounds_and_every_place_is_another() {
        let random = SplitMix64::new(1);
        let ground = Ground::sqlite().unwrap();
        let bench = Bench { ground: &ground, random, rounds: None, short: true };
        assert_eq!((bench.rounds(200, 10), ground.name()), (10, "sqlite"));
        assert_ne!(ground.fresh(), ground.fresh());
    }
}
