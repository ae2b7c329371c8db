//! SPEC_08, the budget engine. `cargo test -p lcp-driver -- budget` runs these.

mod acceptance;
mod allocation;
mod laws;
mod scale;
