//! The examples of the crate run without an error.

#[path = "../../examples/count.rs"]
mod count;

#[test]
fn tokens_are_counted() {
    count::main().unwrap();
}
