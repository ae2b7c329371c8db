//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/session.rs"]
mod session;

#[test]
fn session_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    session::hand_over(&folder.path().join("sessions.db")).unwrap();
}
