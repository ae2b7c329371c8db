//! The program of the tasks, as `ci` calls it: because of this test it is built with the
//! others.

use std::process::Command;

#[test]
fn tasks_are_listed_and_others_refused() {
    let xtask = |argument: &str| {
        Command::new(env!("CARGO_BIN_EXE_xtask")).arg(argument).output().expect("it runs")
    };
    let help = xtask("--help");
    assert_eq!(help.status.code(), Some(0));
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for task in ["tidy", "deny", "formats", "samples", "instructions", "fuzz", "xtask ci"] {
        assert!(help.contains(task), "{task}: {help}");
    }
    assert_eq!(xtask("no-such-task").status.code(), Some(2));
}
