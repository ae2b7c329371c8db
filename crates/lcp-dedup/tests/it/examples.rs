//! The examples of the crate run without an error.

#[path = "../../examples/remove_duplicates.rs"]
mod remove_duplicates;

#[test]
fn duplicates_are_removed() {
    remove_duplicates::main().unwrap();
}
