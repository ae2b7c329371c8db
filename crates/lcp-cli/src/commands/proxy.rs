//! The command `proxy`: runs the gateway, or prints its figures.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use lcp_driver::group_thousands;
use lcp_gateway::{ProxyOptions, SessionStats, Stats, Token, read_stats, serve};

use crate::gateway_args::{DataArgs, GatewayArgs};
use crate::output::Output;
use crate::table::{self, Column, TableStyle};
use crate::{Result, arguments, files};

/// Keep the requests of agents within a token budget
///
/// A gateway between agents and the APIs of Anthropic and OpenAI. Set the base URL of an agent or of
/// an SDK to its address, or let `lcp run` do that. It shortens repeated and old tool results. It
/// edits what the provider has cached only if the model might refuse the request otherwise, or if
/// the edit pays. Figures: /lcp; for Prometheus: /metrics. docs/gateway.md explains the edits.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  lcp proxy --listen 127.0.0.1:8787
  lcp proxy --budget 100000 --dry-run
  lcp proxy stats --json")]
pub struct Args {
    #[command(subcommand)]
    command: Option<ProxyCommand>,
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8787", value_parser = address)]
    listen: SocketAddr,
    /// Token that each request must have [default: the variable `LCP_TOKEN`]
    ///
    /// Needed for an address that other machines can reach. Clients send the header `x-lcp-token`, or
    /// have it in their base URL: http://HOST:PORT/~TOKEN. Other users of this machine can see the
    /// arguments of programs, so prefer the environment variable.
    #[arg(long, value_name = "TOKEN")]
    token: Option<Token>,
    #[command(flatten)]
    gateway: GatewayArgs,
}

/// A subcommand of `proxy`.
#[derive(Debug, clap::Subcommand)]
enum ProxyCommand {
    Stats(StatsArgs),
}

/// Print what requests cost, and what they would have cost without edits
///
/// All figures are computed from the usage that the providers reported.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp proxy stats
  lcp proxy stats --dry-run --json")]
struct StatsArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Print the figures of dry runs
    #[arg(long)]
    dry_run: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

/// Serves until the process ends, or prints the figures.
pub fn run(args: &Args, output: &Output) -> Result {
    if let Some(ProxyCommand::Stats(args)) = &args.command {
        return print_stats(args, output);
    }
    let options = ProxyOptions {
        address: args.listen,
        token: args
            .token
            .clone()
            .map_or_else(arguments::environment_token, |token| Ok(Some(token)))?,
        upstream: args.gateway.upstream.clone().unwrap_or_default(),
        edits: args.gateway.to_options()?,
    };
    output.start_gateway_log()?;
    serve(options, |url| output.progress(format!("serving on {url}")))
}

fn print_stats(args: &StatsArgs, output: &Output) -> Result {
    let stats = read_stats(&args.data.folder()?, args.dry_run)?;
    let text =
        if args.json { files::json(&stats) } else { table(&stats, TableStyle::for_stdout(output)) };
    files::write(None, text.as_bytes())
}

/// Returns the figures as a table, with all sessions last.
fn table(stats: &Stats, style: TableStyle) -> String {
    const COLUMNS: [Column; 10] = [
        Column::Left("session"),
        Column::Left("model"),
        Column::Right("requests"),
        Column::Right("input"),
        Column::Right("written"),
        Column::Right("read"),
        Column::Right("cost"),
        Column::Right("without edits"),
        Column::Right("added ms"),
        Column::Left("edits"),
    ];
    let row = |name: &str, session: &SessionStats| {
        let numbers = [
            session.requests,
            session.input_tokens,
            session.written_tokens + session.written_hour_tokens,
            session.read_tokens,
            session.cost_with_edits,
            session.cost_without_edits,
        ];
        let names = [name.to_owned(), session.model.clone()];
        let numbers = numbers.map(group_thousands);
        names
            .into_iter()
            .chain(numbers)
            .chain([session.mean_millis(), edits(&session.edits)])
            .collect()
    };
    let sessions = stats.sessions.iter().map(|session| row(&session.session, session));
    let rows: Vec<Vec<_>> = sessions.chain([row("all", &stats.total)]).collect();
    let total = &stats.total;
    let mut text = table::render(&COLUMNS, &rows, style);
    text.push_str("\nCosts are in input tokens, from the usage that providers reported.\n");
    if stats.dry_run {
        text.push_str(
            "Dry run: all requests were sent unchanged, so the cost with edits is computed.\n",
        );
    }
    for (count, requests) in [
        (total.requests_without_usage, "Requests without usage, not in the costs"),
        (total.unsupported_requests, "Unsupported requests, sent unchanged"),
        (total.failed_edits, "Failed edits, sent unchanged"),
    ] {
        if count > 0 {
            text.extend([format!("{requests}: {}\n", group_thousands(count))]);
        }
    }
    text.extend([format!(
        "Time to edit a request: {} ms on average, {} ms at most\n",
        total.mean_millis(),
        total.max_micros.div_ceil(1_000),
    )]);
    text
}

/// Returns the numbers of edits with their reasons.
fn edits(edits: &BTreeMap<String, u64>) -> String {
    if edits.is_empty() {
        return "0".to_owned();
    }
    let text = |(reason, count): (&String, &u64)| {
        format!("{} {}", group_thousands(*count), reason.replace('_', " "))
    };
    edits.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn address(value: &str) -> Result<SocketAddr, String> {
    let address = value.replace("localhost:", "127.0.0.1:");
    address.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:8787".to_owned())
}
