//! Fault injection into session stores (RFC 0007 §10): processes are killed, servers stopped,
//! disks filled. Every acknowledged write must survive.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a table and its progress")]

mod backends;
mod child;
mod claim_race;
mod content;
mod crash;
mod full;
mod kill;
mod lease;
mod many_forks;
mod process;
mod protocol;
mod row;
mod write_contention;

use std::ffi::OsString;
use std::fmt::Display;
use std::time::Instant;

use clap::{Parser, ValueEnum};
use lcp_testkit::SplitMix64;

use backends::Backend;
use row::Row;

/// Kill writers, stop servers, fill disks, and look for acknowledged writes
///
/// A lost or unordered write fails; a missed time or size is only reported.
#[derive(Debug, Parser)]
#[command(name = "fault-inject", args_conflicts_with_subcommands = true)]
struct Args {
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
    /// Seed of random moments and sizes
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

/// The environment variable with the arguments of a run.
const ARGUMENTS: &str = "LCP_FAULT_INJECTION";

#[test]
fn short_run_breaks_no_promise() {
    run(&parse(["--short".into()]).unwrap()).unwrap();
}

/// Runs all cases with the arguments in the environment; `cargo xtask fault-inject` sets them.
#[test]
#[ignore = "takes minutes"]
fn long_run_breaks_no_promise() {
    let arguments = std::env::var(ARGUMENTS).unwrap_or_default();
    let args = parse(arguments.split_whitespace().map(OsString::from));
    run(&args.unwrap_or_else(|error| error.exit())).unwrap();
}

/// Runs as a child, when [`process`] starts this program again.
#[test]
#[ignore = "started by the other tests"]
fn child_process() {
    let Ok(arguments) = std::env::var(process::CHILD_ARGUMENTS) else { return };
    let args = parse(arguments.split(process::SEPARATOR).map(OsString::from)).unwrap();
    let Some(Role::Child(child)) = &args.role else { panic!("{args:?}") };
    if let Err(error) = child::run(child) {
        eprintln!("error: {error}");
        std::process::exit(1);
    }
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Args, clap::Error> {
    Args::try_parse_from(std::iter::once("fault-inject".into()).chain(arguments))
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

/// The settings of a case.
struct Bench<'a> {
    backend: &'a Backend,
    random: SplitMix64,
    rounds: Option<u64>,
    short: bool,
}

impl Bench<'_> {
    /// Returns the number of rounds: the requested number, or else `short` or `long`.
    fn rounds(&self, long: u64, short: u64) -> u64 {
        self.rounds.unwrap_or(if self.short { short } else { long })
    }

    /// Creates a row of a case for these stores.
    fn row(&self, case: &'static str, rounds: u64, what: impl Into<String>) -> Row {
        Row::new(case, self.backend.name(), rounds, what)
    }
}

type Result<T = (), E = anyhow::Error> = std::result::Result<T, E>;

fn run(args: &Args) -> Result {
    let mut rows = Vec::new();
    for backend in backends(args.store)? {
        for case in Case::value_variants() {
            if args.only.is_none_or(|only| only == *case) {
                rows.extend(run_case(*case, &backend, args)?);
            }
        }
    }
    if args.json {
        println!("{:#}", row::json(args.seed, args.short, &rows));
    } else {
        print!("{}", row::table(&rows));
    }
    match rows.iter().filter(|row| row.is_broken()).count() {
        0 => Ok(()),
        broken => Err(failed(format!("{broken} promises were broken"))),
    }
}

/// Returns the requested kinds of stores that are available here.
fn backends(wanted: Wanted) -> Result<Vec<Backend>> {
    let mut backends = Vec::new();
    if wanted != Wanted::Postgres {
        backends.push(Backend::sqlite()?);
    }
    if wanted != Wanted::Sqlite {
        match Backend::postgres() {
            Ok(backend) => backends.push(backend),
            Err(reason) if wanted == Wanted::Postgres => return Err(failed(reason)),
            Err(reason) => eprintln!("PostgreSQL is left out: {reason}"),
        }
    }
    Ok(backends)
}

fn run_case(case: Case, backend: &Backend, args: &Args) -> Result<Vec<Row>> {
    let (rounds, short) = (args.rounds, args.short);
    let mut bench = Bench { backend, random: SplitMix64::new(args.seed), rounds, short };
    let start = Instant::now();
    let rows = match case {
        Case::Kill => kill::run(&mut bench)?,
        Case::Crash => crash::run(&mut bench)?,
        Case::Full => full::run(&mut bench)?,
        Case::Race => claim_race::run(&bench)?,
        Case::Queue => write_contention::run(&bench)?,
        Case::Lease => lease::run(&bench)?,
        Case::Forks => many_forks::run(&bench)?,
    };
    if !rows.is_empty() {
        let seconds = start.elapsed().as_secs_f64();
        let name = case.to_possible_value().map(|value| value.get_name().to_owned());
        let name = name.unwrap_or_default();
        eprintln!("{name} on {}: {seconds:.1} s", backend.name());
    }
    Ok(rows)
}

/// Creates an error that stops a case, and is not a broken promise.
fn failed(reason: impl Display) -> anyhow::Error {
    anyhow::Error::msg(reason.to_string())
}

/// Creates an error from an operation of a store that should have succeeded.
fn refused(error: &lcp_continuity::store::Error) -> anyhow::Error {
    failed(format!("{error} [{}]", error.code()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::backends::StoreLocation;
    use super::child::Work;
    use super::*;

    fn parsed(arguments: &[&str]) -> Args {
        parse(arguments.iter().map(OsString::from)).unwrap()
    }

    #[test]
    fn child_order_round_trips_through_arguments() {
        let url = "postgres://a:b@127.0.0.1:1/c".to_owned();
        let places = [
            StoreLocation::Sqlite(PathBuf::from("/a folder/store.sqlite")),
            StoreLocation::Postgres { url, schema: "store_1".to_owned() },
        ];
        for (place, work) in places
            .iter()
            .flat_map(|place| Work::value_variants().iter().map(move |work| (place, *work)))
        {
            let words: Vec<_> = process::Order::new(work, place, "a name").arguments();
            let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
            let Some(Role::Child(child)) = parsed(&words).role else { panic!("no child") };
            assert_eq!((child.work(), &child.location()), (work, place));
        }
    }

    #[test]
    fn options_select_case_store_and_rounds() {
        let args = parsed(&["--only", "queue", "--store", "sqlite", "--rounds", "2"]);
        assert_eq!(
            (args.only, args.store, args.rounds),
            (Some(Case::Queue), Wanted::Sqlite, Some(2))
        );
        assert!(parse(["--rounds".into(), "0".into()]).is_err());
    }

    #[test]
    fn short_bench_limits_rounds_and_stores_are_fresh() {
        let random = SplitMix64::new(1);
        let backend = Backend::sqlite().unwrap();
        let bench = Bench { backend: &backend, random, rounds: None, short: true };
        assert_eq!((bench.rounds(200, 10), backend.name()), (10, "sqlite"));
        assert_ne!(backend.fresh(), backend.fresh());
    }
}
