//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/store.rs"]
mod store;

#[test]
fn store_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    store::store_and_read(&folder.path().join("bodies.db")).unwrap();
}
