//! Tests of the whole crate, through its public names.

mod anthropic;
mod bad;
mod exported;
mod laws;
mod openai;
mod support;
mod valid;
