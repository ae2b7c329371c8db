//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/delimiter_safety.rs"]
mod delimiter_safety;

#[path = "../../examples/render.rs"]
mod render;

#[test]
fn costs_of_delimiter_safety_are_measured() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    delimiter_safety::measure(&[folder]).unwrap();
}

#[test]
fn blocks_are_rendered() {
    render::main().unwrap();
}
