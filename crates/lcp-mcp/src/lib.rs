//! The MCP server (RFC 0010 §8), which offers commands as tools for agents.
//!
//! | look for | in |
//! |---|---|
//! | the server loop, background calls, cancellation, panics | `server.rs` |
//! | the trait of tools, and their list | `tool.rs`, `tools/mod.rs`; each tool is in `tools/` |
//! | access to paths below the roots | `sandbox.rs` |
//! | the question of a call | `question.rs` |
//! | packs in memory | `pack_cache.rs`; as resources `resources.rs` |
//! | the session store | `session_store.rs` |
//! | the state that tools share | `state.rs` |
//! | errors with code and hint | `error.rs` |
//!
//! The server reads only files below its roots, and writes only to the session store.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod choices;
mod error;
#[cfg(feature = "http")]
mod http;
mod pack_cache;
mod question;
mod resources;
mod sandbox;
mod server;
mod session_store;
mod state;
mod text;
mod tool;
mod tools;

#[cfg(feature = "http")]
pub use http::{HttpOptions, Token, loopback, serve_http};
pub use sandbox::Roots;
pub use server::serve;
pub use session_store::LazySessionStore;
pub use state::{ServerConfig, ServerState};

#[cfg(test)]
extern crate self as lcp_mcp;
