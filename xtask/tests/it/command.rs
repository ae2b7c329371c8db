//! The program under test.

use std::path::Path;
use std::process::Output;

use lcp_testkit::program::Program;
pub(crate) use lcp_testkit::program::{Project, printed, stderr};

pub(crate) const XTASK: Program = Program(env!("CARGO_BIN_EXE_xtask"));

pub(crate) fn run(arguments: &[&str]) -> Output {
    XTASK.run(arguments)
}

#[track_caller]
pub(crate) fn encode(manifest: &str, pack: &Path) {
    XTASK.encode(manifest, pack);
}
