//! The tests of lcp-continuity.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod command;
mod compact;
#[path = "../conformance/mod.rs"]
mod conformance;
mod directive;
mod fidelity;
mod memory;
mod service;
mod summary;
mod tracker;
mod trigger;
mod words;
