//! The examples of the crate run without an error.

#[path = "../../examples/convert.rs"]
mod convert;

#[test]
fn convert_example_runs() {
    convert::main().unwrap();
}
