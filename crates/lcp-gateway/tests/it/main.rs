//! Edits of requests, on histories that grow as those of agents do.

mod budgets;
mod histories;
mod laws;
#[cfg(feature = "proxy")]
mod server;
#[cfg(feature = "proxy")]
mod server_results;
#[cfg(feature = "proxy")]
mod server_usage;
mod simulator;
#[cfg(feature = "proxy")]
mod upstream;
