//! Tests of the whole crate, through its public names.

mod events;
mod exact;
mod examples;
mod first;
mod laws;
mod near;
mod options;
mod overlap;
mod pack;
mod repeated_calls;
mod search;
mod superseded;
mod support;
