//! Edits of requests, on histories that grow as those of agents do.

mod histories;
mod laws;
#[cfg(feature = "proxy")]
mod server;
mod simulator;
#[cfg(feature = "proxy")]
mod upstream;
