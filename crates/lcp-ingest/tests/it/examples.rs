//! The examples of the crate run without an error.

#[path = "../../examples/pack_folder.rs"]
mod pack_folder;

#[test]
fn pack_folder_example_succeeds() {
    pack_folder::main().unwrap();
}
