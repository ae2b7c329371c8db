//! The MCP server (RFC 0010 §8): commands as tools for agents.
//!
//! | look for | in |
//! |---|---|
//! | the loop, calls off the loop, cancellation, panics | `server.rs` |
//! | the trait of tools, and the list of them | `tool.rs`, `tools/mod.rs`; each is a file in `tools/` |
//! | paths that may be read, and those that are refused | `sandbox.rs` |
//! | packs in memory | `pack_cache.rs`; as resources `resources.rs` |
//! | the store of sessions | `session_store.rs` |
//! | the state that tools share | `state.rs` |
//! | errors with code and hint | `error.rs` |
//!
//! It reads below its roots alone, and writes nothing but the store of sessions.

mod choices;
mod error;
#[cfg(feature = "http")]
mod http;
mod pack_cache;
mod resources;
mod sandbox;
mod server;
mod session_store;
mod state;
mod text;
mod tool;
mod tools;

#[cfg(feature = "http")]
pub use http::{loopback, serve_http};
pub use sandbox::Roots;
pub use server::serve;
pub use session_store::LazySessionStore;
pub use state::{ServerConfig, ServerState};
