//! The examples of the crate run without an error.

#[path = "../../examples/blocks.rs"]
mod blocks;

#[test]
fn blocks_of_several_types_are_listed() {
    blocks::main();
}
