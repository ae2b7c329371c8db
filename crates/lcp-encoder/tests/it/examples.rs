//! The examples of the crate run without an error.

#[path = "../../examples/write_pack.rs"]
mod write_pack;

#[test]
fn write_pack_example_runs() {
    write_pack::main().unwrap();
}
