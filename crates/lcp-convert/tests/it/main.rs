//! Tests of the whole crate, through its public names.

mod anthropic;
mod bad;
mod diff;
mod exported;
mod laws;
mod numbered;
mod openai;
mod sessions;
mod ranks;
mod support;
mod valid;
