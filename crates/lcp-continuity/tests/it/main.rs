//! The tests of lcp-continuity.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod command;
mod compact;
#[path = "../conformance/mod.rs"]
mod conformance;
mod coverage;
#[cfg(feature = "sqlite")]
mod examples;
mod extract;
mod memory;
mod resume_prompt;
mod service;
mod summary;
mod tracker;
mod trigger;
