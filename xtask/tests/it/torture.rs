//! The short run of `torture`, with the stores that were built in.

use crate::command::{run, stderr};

#[test]
fn a_short_run_breaks_no_promise() {
    let output = run(&["torture", "--short"]);
    assert!(output.status.success(), "{}", stderr(&output));
}
