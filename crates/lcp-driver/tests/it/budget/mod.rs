//! SPEC_08, the budget engine. Run these tests with `cargo test -p lcp-driver -- budget`.

mod acceptance;
mod allocation;
mod laws;
mod scale;
