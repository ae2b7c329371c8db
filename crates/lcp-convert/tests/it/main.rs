//! The tests of lcp-convert.

mod diff;
mod numbered;
