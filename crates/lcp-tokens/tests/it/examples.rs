//! The examples of the crate run without an error.

#[path = "../../examples/count.rs"]
mod count;

#[test]
fn count_example_runs() {
    count::main().unwrap();
}
