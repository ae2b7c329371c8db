//! `mcp`: an MCP server.

use std::path::PathBuf;

use crate::Result;
use crate::output::Output;
use crate::session_args::StoreArgs;
use lcp_mcp::{LazySessionStore, Roots, ServerConfig, ServerState, serve};

/// Serve packs within a budget to agents, over MCP
///
/// Speaks the Model Context Protocol on standard input and output until the input ends.
/// Reads below its roots only, links and `..` notwithstanding, and writes nothing but the
/// store of sessions. docs/mcp.md tells how clients are set up.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp mcp --root .
  lcp mcp --root ~/project --root ~/docs --git
  claude mcp add lcp -- lcp mcp --root .")]
pub struct Args {
    /// A folder that may be read, with all below it; the current one without any
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Let `pack` run git for `since` and `diff`: with the settings of the repositories
    /// below the roots, so only where those are your own
    #[arg(long)]
    git: bool,
    /// Serve over HTTP on this address of loopback instead, such as 127.0.0.1:8765
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ADDR", value_parser = lcp_mcp::loopback)]
    http: Option<std::net::SocketAddr>,
    #[command(flatten)]
    store: StoreArgs,
    /// The settings; without it there are none: no lcp.toml is looked for
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
}

/// Serves.
pub fn run(args: &Args, output: &Output) -> Result {
    let current = [PathBuf::from(".")];
    let roots = if args.root.is_empty() { &current[..] } else { &args.root };
    let config = ServerConfig {
        roots: Roots::new(roots)?,
        settings: lcp_app::config::ConfigSource::from_path(args.config.clone()).read()?,
        git: args.git,
        sessions: LazySessionStore::new(args.store.store.clone()),
        reporter: Box::new(output.clone()),
    };
    let state = ServerState::new(config);
    #[cfg(feature = "http")]
    if let Some(address) = args.http {
        let listening = |url: &str| output.progress(format!("serving on {url}"));
        return lcp_mcp::serve_http(state, address, listening);
    }
    serve(state)
}
