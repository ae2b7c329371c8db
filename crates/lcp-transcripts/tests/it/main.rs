//! Tests of the crate's public API.

mod agents;
mod anthropic;
mod bad;
mod claude_code;
mod diff;
mod examples;
mod exported;
mod laws;
mod line_numbers;
mod openai;
mod ranks;
mod round_trip;
mod sdk_types;
mod search_tools;
mod sessions;
mod support;
mod targets;
mod valid;
