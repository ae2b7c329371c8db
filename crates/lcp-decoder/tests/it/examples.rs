//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/read_pack.rs"]
mod read_pack;

#[test]
fn a_pack_is_decoded_by_each_function() {
    read_pack::compare(20).unwrap();
}
