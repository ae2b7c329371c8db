//! The examples of the crate run without an error.

#[path = "../../examples/maintain_packs.rs"]
mod maintain_packs;

#[test]
fn maintain_packs_example_runs() {
    maintain_packs::main().unwrap();
}
