//! The service: sessions from their first message to the one that continues them.

mod acceptance;
mod calls;
mod chain;
mod check;
mod compact;
mod conversations;
mod failing;
mod handoff_pack;
mod handovers;
mod holders;
#[cfg(all(feature = "metrics", feature = "tracing"))]
mod observe;
mod prepare;
mod resume;
pub(crate) mod support;
mod sync;
mod usage;
mod window;
