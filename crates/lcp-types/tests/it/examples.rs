//! The examples of the crate run without an error.

#[path = "../../examples/blocks.rs"]
mod blocks;

#[test]
fn blocks_example_runs() {
    blocks::main();
}
