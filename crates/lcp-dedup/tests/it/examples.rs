//! The examples of the crate run without an error.

#[path = "../../examples/remove_duplicates.rs"]
mod remove_duplicates;

#[test]
fn remove_duplicates_example_runs() {
    remove_duplicates::main().unwrap();
}
