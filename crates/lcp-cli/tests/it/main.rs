//! The command as its users call it, and the samples as attackers would.

#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod agents;
mod annotate;
mod append;
mod asked;
mod budget;
mod command;
mod config;
mod damage;
mod dedup;
mod docs;
mod export;
mod format_descriptions;
mod former_names;
mod full;
mod gateway;
mod gateway_agents;
#[path = "../../../lcp-gateway/tests/it/histories.rs"]
#[allow(dead_code, reason = "a module of tests, of which less is needed here")]
mod gateway_histories;
mod gateway_model;
mod gateway_recorded;
mod gateway_sdks;
#[path = "../../../lcp-gateway/tests/it/upstream.rs"]
#[allow(dead_code, reason = "a module of tests, of which less is needed here")]
mod gateway_upstream;
mod handoff_demo;
mod hidden;
mod hints;
mod import;
mod index;
mod indexed_render;
mod inspect;
#[cfg(target_os = "linux")]
mod killed;
mod limits;
#[cfg(feature = "log")]
mod log;
#[cfg(feature = "mcp")]
mod mcp;
mod merge;
mod objective;
mod pack;
mod parse;
mod rank;
mod samples;
mod schemas;
mod secrets;
mod segments;
mod session_compact;
mod session_flags;
mod session_order;
mod session_usage;
mod session_window;
mod sessions;
mod settings;
mod shell;
mod smallest;
mod special;
mod stable;
#[cfg(unix)]
mod terminal;
#[path = "../../../lcp-transcripts/tests/it/valid.rs"]
#[allow(clippy::pedantic, dead_code, reason = "a module of tests, of which less is needed here")]
mod valid;
