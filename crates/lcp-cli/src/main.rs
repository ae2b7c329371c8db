//! The `lcp` command: see the library of the same crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    lcp_cli::main()
}
