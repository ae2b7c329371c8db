//! Tests of errors from git.

use super::*;

#[test]
fn git_error_is_the_first_line_escaped() {
    let error = git_error(b"\nfatal: \x1b[31mno\nmore\n");
    assert_eq!(error.to_string(), r"git failed: fatal: \u{1b}[31mno");
    assert!(git_error(b"fatal: not a git repository (or any)\n").hint().is_some());
    assert!(git_error(b"").to_string().ends_with("git failed: no error message"));
}
