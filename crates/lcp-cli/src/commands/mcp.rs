//! The command `mcp`: runs an MCP server.

use std::path::PathBuf;

use crate::Result;
#[cfg(feature = "http")]
use crate::arguments;
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
    /// Token that each HTTP request must have [default: the variable `LCP_TOKEN`]
    ///
    /// Clients send the header `Authorization: Bearer TOKEN`. Other users of this machine can see
    /// the arguments of programs, so prefer the environment variable.
    #[cfg(feature = "http")]
    #[arg(long, value_name = "TOKEN", requires = "http")]
    token: Option<lcp_mcp::Token>,
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
        let token = args
            .token
            .clone()
            .map_or_else(arguments::environment_token, |token| Ok(Some(token)))?;
        let options = lcp_mcp::HttpOptions { address, token };
        let listening = |url: &str| output.progress(format!("serving on {url}"));
        return lcp_mcp::serve_http(state, &options, listening);
    }
    // The agent that starts the server may have sessions that its hooks captured.
    #[cfg(feature = "agents")]
    std::thread::spawn(|| lcp_app::hook::record_captures(&lcp_app::Silent));
    lcp_app::files::announce_terminal(output);
    serve(state)
}
