//! The examples of the crate run without an error.

#[path = "../../examples/write_pack.rs"]
mod write_pack;

#[test]
fn a_pack_is_written() {
    write_pack::main().unwrap();
}
