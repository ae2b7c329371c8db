//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/read_pack.rs"]
mod read_pack;

#[test]
fn read_pack_example_runs() {
    read_pack::compare(20).unwrap();
}
