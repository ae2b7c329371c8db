//! The examples of the crate run without an error.

#[path = "../../examples/convert.rs"]
mod convert;

#[test]
fn a_transcript_is_converted() {
    convert::main().unwrap();
}
