//! The client that others write theirs after: `mcp` of `PyPI`.

use std::path::Path;
use std::process::Command;

use lcp_testkit::python;

use super::Place;
use crate::command::LCP;

/// Unless it is empty: the test fails where there is no Python, or no `PyPI`.
const REQUIRED: &str = "LCP_REQUIRE_PYTHON";

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs it sees what is installed or skipped")]
fn python_mcp_client_works_with_the_server() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-client");
    let found = python::create_venv(&folder, &tests.join("mcp_client.txt"), &mut |said| {
        eprintln!("{said}");
    });
    let python = match found {
        Ok(python) => python,
        Err(why) => {
            let is_required = std::env::var_os(REQUIRED).is_some_and(|value| !value.is_empty());
            assert!(!is_required, "{why}");
            return eprintln!("skipped: {why}; {REQUIRED}=1 makes this a failure");
        }
    };
    let place = Place::new();
    let output = Command::new(python)
        .arg(tests.join("mcp_client.py"))
        .arg(LCP.0)
        .args(["root", "sessions.sqlite", "secret"].map(|name| place.path(name)))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "all is well", "{said}");
}
