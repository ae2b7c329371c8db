//! Standard input that is a terminal.

use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::command::{LCP, printed, run_with, stderr};

const NOTICE: &str = "reading from the terminal; end with Ctrl-D\n";

/// Runs the command with a terminal as its standard input, in which these lines and Ctrl-D are
/// typed.
fn run_in_terminal(arguments: &[&str], lines: &str) -> Output {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let input = File::open(name.to_str().unwrap()).unwrap();
    let mut keyboard = File::from(terminal);
    keyboard.write_all(lines.as_bytes()).unwrap();
    keyboard.write_all(b"\x04").unwrap();
    let mut command = Command::new(LCP.0);
    command.args(arguments).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap()
}

#[test]
fn reading_from_a_terminal_is_announced() {
    let output = run_in_terminal(&["count", "-"], "a word\n");
    assert_eq!((printed(&output).as_str(), stderr(&output).as_str()), ("3 -\n", NOTICE));
    let output = run_in_terminal(&["pack", "-", "--no-tree", "--no-config"], "a word\n");
    assert!(output.stdout.starts_with(b"LCP"), "{}", stderr(&output));
    assert!(stderr(&output).starts_with(NOTICE), "{}", stderr(&output));
    assert_eq!(stderr(&run_in_terminal(&["-q", "count", "-"], "a word\n")), "");
}

#[cfg(feature = "mcp")]
#[test]
fn mcp_on_a_terminal_is_announced() {
    let output = run_in_terminal(&["mcp"], "");
    assert!(stderr(&output).starts_with(NOTICE), "{}", stderr(&output));
}

#[test]
fn reading_from_a_pipe_is_not_announced() {
    assert_eq!(stderr(&run_with(&["count", "-"], b"a word\n")), "");
}
