//! The examples of the crate run without an error.

#[expect(dead_code, reason = "`main` reads the arguments of the process")]
#[path = "../../examples/delimiter_safety.rs"]
mod delimiter_safety;

#[path = "../../examples/render.rs"]
mod render;

#[test]
fn delimiter_safety_example_runs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    delimiter_safety::measure(&[folder]).unwrap();
}

#[test]
fn render_example_runs() {
    render::main().unwrap();
}
