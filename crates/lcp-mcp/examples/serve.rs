//! Serves the current folder to an agent on standard input and output, until the input ends:
//!
//! ```text
//! claude mcp add lcp-example -- cargo run --quiet -p lcp-mcp --example serve
//! ```
//!
//! To see the tools without an agent, send the messages of a client:
//!
//! ```text
//! (echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",
//!  "capabilities":{},"clientInfo":{"name":"me","version":"1"}}}' | tr -d '\n'; echo
//!  echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
//!  echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'; sleep 1
//! ) | cargo run --quiet -p lcp-mcp --example serve
//! ```

use std::path::PathBuf;

use lcp_app::config::Config;
use lcp_app::{Result, Silent};
use lcp_mcp::{LazySessionStore, Roots, ServerConfig, ServerState, serve};

fn main() -> Result {
    serve(state(".".into())?)
}

/// Returns the state of a server that reads files below `root` only.
pub(crate) fn state(root: PathBuf) -> Result<ServerState> {
    Ok(ServerState::new(ServerConfig {
        roots: Roots::new(&[root])?,
        // The defaults. `ConfigSource` of lcp-app reads an `lcp.toml`.
        settings: Config::default(),
        // Git runs programs that the settings of a repository name.
        git: false,
        // The session store of the user. It is opened when a client records a session.
        sessions: LazySessionStore::default(),
        // Standard output is for the protocol. A `Reporter` can write messages elsewhere.
        reporter: Box::new(Silent),
    }))
}
