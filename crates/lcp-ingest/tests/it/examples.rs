//! The examples of the crate run without an error.

#[path = "../../examples/pack_folder.rs"]
mod pack_folder;

#[test]
fn a_folder_is_packed() {
    pack_folder::main().unwrap();
}
