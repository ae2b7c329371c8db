//! The examples of the crate run without an error.

#[path = "../../examples/maintain_packs.rs"]
mod maintain_packs;

#[test]
fn packs_are_maintained() {
    maintain_packs::main().unwrap();
}
