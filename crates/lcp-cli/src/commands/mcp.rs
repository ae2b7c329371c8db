//! The command `mcp`: runs an MCP server.

use std::path::PathBuf;

use crate::Result;
use crate::output::Output;
use crate::session_args::StoreArgs;
use lcp_mcp::{LazySessionStore, Roots, ServerConfig, ServerState, serve};

/// Serve packs to agents over MCP, within a token budget
///
/// Speaks the Model Context Protocol on standard input and output until the input ends. The server
/// reads only files below its roots, even through links and `..`, and writes only the session
/// store. docs/mcp.md explains the setup of clients.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lcp mcp --root .
  lcp mcp --root ~/project --root ~/docs --git
  claude mcp add lcp -- lcp mcp --root .")]
pub struct Args {
    /// Folder that the server may read; repeatable [default: the current folder]
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Allow the tool `pack` to run git for `since` and `diff`
    ///
    /// Git then uses the settings of the repositories below the roots. Use this only for your own
    /// repositories.
    #[arg(long)]
    git: bool,
    /// Serve over HTTP on this loopback address, such as 127.0.0.1:8765
    #[cfg(feature = "http")]
    #[arg(long, value_name = "ADDR", value_parser = lcp_mcp::loopback)]
    http: Option<std::net::SocketAddr>,
    #[command(flatten)]
    store: StoreArgs,
    /// Settings file; the server does not search for an lcp.toml
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
}

/// Serves until the input ends.
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
