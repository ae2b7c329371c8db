//! The definitions of code in several languages.

use lcp_ingest::outline::{Definition, DefinitionKind, InputKind, definitions, grammars};
use lcp_types::Lang;

/// Returns the definitions as `NAME FIRST-LAST KIND`, with two spaces for each level.
fn listed(lang: Lang, text: &str) -> Vec<String> {
    let line = |one: &Definition| {
        let kind = match one.kind {
            DefinitionKind::Function => "function",
            DefinitionKind::Type => "type",
            DefinitionKind::Value => "value",
        };
        let indent = "  ".repeat(one.depth);
        format!("{indent}{} {}-{} {kind}", one.name, one.first_line, one.last_line)
    };
    definitions(InputKind::Code(lang), text).iter().map(line).collect()
}

#[test]
fn functions_and_types_have_their_lines() {
    let rust =
        "pub struct Door {\n    hinge: u8,\n}\n\nimpl Door {\n    fn open(&self) {\n    }\n}\n";
    let expected = ["Door 1-3 type", "  hinge 2-2 value", "Door 5-8 type", "  open 6-7 function"];
    assert_eq!(listed(Lang::Rust, rust), expected);

    let python =
        "class Door:\n    def open(self):\n        pass\n\n@cached\ndef close():\n    pass\n";
    let expected = ["Door 1-3 type", "  open 2-3 function", "close 5-7 function"];
    assert_eq!(listed(Lang::Python, python), expected);

    let go = "package a\n\nfunc (d *Door) Open() {\n}\n\ntype Door struct {\n\tHinge int\n}\n";
    let found = listed(Lang::Go, go);
    assert!(found.contains(&"Open 3-4 function".to_owned()), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("Door 6-8")), "{found:?}");

    let script = "export const open = () => {\n  turn()\n}\n\nclass Door {\n  close() {\n  }\n}\n";
    let expected = ["open 1-3 function", "Door 5-8 type", "  close 6-7 function"];
    assert_eq!(listed(Lang::TypeScript, script), expected);
}

#[test]
fn grammars_are_counted_by_kind() {
    assert_eq!(grammars(InputKind::Code(Lang::C)), 2);
    assert_eq!(grammars(InputKind::TaggedCode("kotlin")), 1);
    assert_eq!(grammars(InputKind::Text), 0);
}

#[test]
fn text_without_a_grammar_has_no_definitions() {
    assert_eq!(listed(Lang::Unknown, "fn open() {}\n"), [""; 0]);
    assert_eq!(definitions(InputKind::Document, "# fn open() {}\n"), []);
}
