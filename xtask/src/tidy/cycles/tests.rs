use super::*;

fn cycles(files: &[(&str, &str)]) -> Vec<Vec<PathBuf>> {
    let sources = files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect();
    find(&sources, Path::new("lib.rs"))
}

#[test]
fn mutual_imports_are_a_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::g; pub fn f() { g() }"),
        ("b.rs", "pub fn g() { super::a::f() }"),
    ]);
    assert_eq!(found, [["a.rs", "b.rs"].map(PathBuf::from)]);
}

#[test]
fn acyclic_chain_is_not_a_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b; use a::f; pub fn h() { f() }"),
        ("a.rs", "use crate::b::g; pub fn f() { g() }"),
        ("b.rs", "pub fn g() {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn names_are_followed_through_reexports() {
    let facade = "mod a; mod b; pub use a::F; pub use b::*;";
    let through = [("lib.rs", facade), ("a.rs", "pub struct F(crate::G);")];
    let open = cycles(&[through[0], through[1], ("b.rs", "pub struct G;")]);
    assert!(open.is_empty(), "{open:?}");
    let closed = cycles(&[through[0], through[1], ("b.rs", "pub struct G(Box<crate::F>);")]);
    assert_eq!(closed, [["a.rs", "b.rs"].map(PathBuf::from)]);
}

#[test]
fn module_and_its_submodules_are_not_a_cycle() {
    let child = ("a/b.rs", "use super::F; pub fn g(_: F) {}");
    let parent = "mod b; pub struct F; pub fn f() { b::g(F) }";
    assert!(cycles(&[("lib.rs", "mod a;"), ("a/mod.rs", parent), child]).is_empty());
    assert!(cycles(&[("lib.rs", "mod a;"), ("a.rs", parent), child]).is_empty());
}

#[test]
fn cycle_through_submodules_of_two_modules_is_reported() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod c;"),
        ("a/mod.rs", "mod b; pub struct F; pub fn f() { crate::c::g(b::G) }"),
        ("a/b.rs", "pub struct G;"),
        ("c.rs", "use crate::a::b::G; pub fn g(_: G) { crate::a::f() }"),
    ]);
    assert_eq!(found, [["a/mod.rs", "c.rs"].map(PathBuf::from)]);
}

#[test]
fn imports_in_tests_are_ignored() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::g; pub fn f() { g() }"),
        ("b.rs", "pub fn g() {} #[cfg(test)] mod tests { fn t() { crate::a::f() } }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}
