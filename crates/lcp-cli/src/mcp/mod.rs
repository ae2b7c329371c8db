//! The MCP server (RFC 0010 §8): what the commands do, as tools for agents.
//!
//! | look for | in |
//! |---|---|
//! | the loop, calls off the loop, cancellation, panics | `server.rs` |
//! | what a tool is, and the list of them | `tool.rs`; each is a file in `tools/` |
//! | what is read, and what is refused | `roots.rs` |
//! | packs that are kept in memory | `packs.rs`; as resources `resources.rs` |
//! | what tools work with | `desk.rs` |
//! | errors with code and hint | `fault.rs` |
//!
//! It reads below its roots alone, and writes nothing but the store of sessions.

mod choices;
mod desk;
mod fault;
#[cfg(feature = "http")]
mod http;
mod packs;
mod resources;
mod roots;
mod server;
mod tool;
mod tools;

pub use desk::{Desk, Setup};
#[cfg(feature = "http")]
pub use http::{loopback, serve_http};
pub use roots::Roots;
pub use server::serve;
pub use tools::Sittings;
